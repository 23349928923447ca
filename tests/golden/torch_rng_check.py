# SPDX-License-Identifier: Apache-2.0
# Reimplements the PyTorch CPU generator stream (pytorch-semantics.md, section 11) and compares it with an installed PyTorch (2.15).
# The "via float" and "float pairs" figures are rejected variants: they differ. scripts/golden.sh --check runs it.
# Run: python3 torch_rng_check.py     (a few seconds, one thread, no GPU); ends with "all asserts passed"
import torch
torch.set_num_threads(1)
# mt19937 reference
class MT:
    def __init__(s, seed):
        s.mt=[0]*624; s.mt[0]=seed&0xffffffff
        for i in range(1,624): s.mt[i]=(1812433253*(s.mt[i-1]^(s.mt[i-1]>>30))+i)&0xffffffff
        s.i=624
    def u32(s):
        if s.i==624:
            for k in range(624):
                y=(s.mt[k]&0x80000000)|(s.mt[(k+1)%624]&0x7fffffff)
                s.mt[k]=s.mt[(k+397)%624]^(y>>1)^(0x9908b0df if y&1 else 0)
            s.i=0
        y=s.mt[s.i]; s.i+=1
        y^=y>>11; y^=(y<<7)&0x9d2c5680; y^=(y<<15)&0xefc60000; y^=y>>18
        return y
    def u64(s):
        a=s.u32(); b=s.u32(); return (a<<32)|b
import math, struct
f32=lambda v: struct.unpack('f',struct.pack('f',v))[0]
# rand float32: (u32 & (2^24-1)) * 2^-24
m=MT(0); torch.manual_seed(0); t=torch.rand(5).tolist(); r=[(m.u32()&0xffffff)/2**24 for _ in range(5)]; print("rand f32 ok",t==r)
m=MT(0); torch.manual_seed(0); t=torch.rand(5,dtype=torch.float64).tolist(); r=[(m.u64()&(2**53-1))/2**53 for _ in range(5)]; print("rand f64 ok",t==r)
m=MT(7); torch.manual_seed(7); t=torch.empty(5).uniform_(-.3,.9).tolist(); r=[f32(f32((m.u32()&0xffffff)/2**24)*f32(f32(.9)-f32(-.3))+f32(-.3)) for _ in range(5)]; print("uniform_ ok",max(abs(a-b) for a,b in zip(t,r)))
# bernoulli
m=MT(3); torch.manual_seed(3); t=torch.empty(12).bernoulli_(.4).tolist()
r64=[float((m.u64()&(2**53-1))/2**53<.4) for _ in range(12)]; m=MT(3); r32=[float((m.u32()&0xffffff)/2**24<.4) for _ in range(12)]; print("bernoulli via double",t==r64,"via float",t==r32)
# randperm n< 2^32: for i in 0..n-2: z=u32 % (n-i); swap(i, z+i)
def rp(seed,n):
    m=MT(seed); a=list(range(n))
    for i in range(n-1):
        z=m.u32()%(n-i); a[i],a[z+i]=a[z+i],a[i]
    return a
torch.manual_seed(5); print("randperm ok", torch.randperm(50).tolist()==rp(5,50))
# randint int64: range<2^32 -> u32 % range + base
m=MT(9); torch.manual_seed(9); t=torch.randint(3,17,(8,)).tolist(); print("randint ok", t==[m.u32()%14+3 for _ in range(8)])
# normal small (<16): pairs cached in double: u1=u64->double ...
m=MT(11); torch.manual_seed(11); t=torch.randn(6).tolist()
def nd(m,n):
    out=[];
    while len(out)<n:
        u1=(m.u64()&(2**53-1))/2**53; u2=(m.u64()&(2**53-1))/2**53
        rr=math.sqrt(-2*math.log1p(-u2)); th=2*math.pi*u1
        out+= [rr*math.cos(th), rr*math.sin(th)]
    return out[:n]
def ndf(m,n):
    out=[]
    while len(out)<n:
        u1=(m.u32()&0xffffff)/2**24; u2=(m.u32()&0xffffff)/2**24
        rr=math.sqrt(-2*math.log1p(-u2)); th=2*math.pi*u1
        out+=[rr*math.cos(th), rr*math.sin(th)]
    return out[:n]
print("randn<16 double pairs", max(abs(a-b) for a,b in zip(t,nd(MT(11),6))), "float pairs", max(abs(a-b) for a,b in zip(t,ndf(MT(11),6))))
# normal >=16: fill uniform then Box-Muller on blocks of 16: u1=1-x[j], u2=x[j+8]
def n16(seed,n):
    m=MT(seed); x=[(m.u32()&0xffffff)/2**24 for _ in range(n)]
    def blk(i):
        for j in range(8):
            u1=1-x[i+j]; u2=x[i+j+8]; rr=math.sqrt(-2*math.log(u1)); th=2*math.pi*u2
            x[i+j]=rr*math.cos(th); x[i+j+8]=rr*math.sin(th)
    for i in range(0,n-15,16): blk(i)
    if n%16:
        i=n-16
        for k in range(16): x[i+k]=(m.u32()&0xffffff)/2**24
        blk(i)
    return x
for n in (16,32,40):
    torch.manual_seed(4); t=torch.randn(n).tolist(); print("randn n=%d"%n, max(abs(a-b) for a,b in zip(t,n16(4,n))))
# dropout mask from cpu generator
torch.manual_seed(2); d=torch.nn.functional.dropout(torch.ones(10),.3).ne(0).float().tolist(); torch.manual_seed(2); b=torch.empty(10).bernoulli_(.7).tolist(); print("dropout mask == bernoulli_(1-p)", d==b)
# Linear init = weight uniform then bias uniform from the same stream
torch.manual_seed(0); l=torch.nn.Linear(3,2); torch.manual_seed(0); bd=1/math.sqrt(3); w=torch.empty(2,3).uniform_(-bd,bd); b=torch.empty(2).uniform_(-bd,bd); print("Linear init stream", torch.equal(l.weight,w), torch.equal(l.bias,b), (l.weight-w).abs().max().item())
bw=math.sqrt(3)*math.sqrt(2/(1+5))/math.sqrt(3); torch.manual_seed(0); w=torch.empty(2,3).uniform_(-bw,bw); print("  with kaiming bound", torch.equal(l.weight,w))

# ---- int64 draw, DataLoader draws, initialisation streams, golden training run
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
m=MT(0); torch.manual_seed(0); assert torch.empty((),dtype=torch.int64).random_().item()==(m.u64()&(2**63-1))
m=MT(0); m.u64(); seed2=m.u64()&(2**63-1)                       # 1st int64: base_seed, 2nd: seed of the permutation
torch.manual_seed(0); order=torch.cat([b[0] for b in DataLoader(TensorDataset(torch.arange(10)),batch_size=4,shuffle=True)]).tolist()
assert order==rp(seed2,10)==[6,7,1,4,2,0,9,8,3,5], order        # note: only the low 32 bits of seed2 matter
torch.manual_seed(0); list(DataLoader(TensorDataset(torch.arange(10)))); a=torch.rand(1); m=MT(0); m.u64(); assert a.item()==(m.u32()&0xffffff)/2**24
U=lambda g,sh,b: torch.empty(sh).uniform_(-b,b,generator=g)
KB=lambda fan: math.sqrt(3)*(math.sqrt(2/(1+5))/math.sqrt(fan))
torch.manual_seed(42); n_=nn.Sequential(nn.Conv2d(1,4,3),nn.BatchNorm2d(4),nn.ReLU(),nn.Flatten(),nn.Linear(4*26*26,10)); g=torch.Generator().manual_seed(42)
assert torch.equal(n_[0].weight,U(g,(4,1,3,3),KB(9))) and torch.equal(n_[0].bias,U(g,(4,),1/3)) and torch.equal(n_[4].weight,U(g,(10,2704),KB(2704))) and torch.equal(n_[4].bias,U(g,(10,),1/math.sqrt(2704)))
torch.manual_seed(1); l=nn.LSTM(3,4,2); g=torch.Generator().manual_seed(1); assert all(torch.equal(p,U(g,p.shape,.5)) for p in l.parameters())
torch.manual_seed(1); e=nn.Embedding(5,4); torch.manual_seed(1); assert torch.equal(e.weight,torch.randn(5,4))
y=torch.tensor([0,1,2,0,1,2])
for want,mk in [([1.0780149,1.0626818,1.0407075,1.0136622,.9837482],lambda p: torch.optim.SGD(p,lr=.1,momentum=.9,nesterov=True,weight_decay=1e-2)),([1.0780149,1.0610501,1.0447288,1.0289603,1.0126402],lambda p: torch.optim.AdamW(p,lr=1e-2))]:
    torch.manual_seed(0); n_=nn.Sequential(nn.Linear(4,8),nn.ReLU(),nn.Linear(8,3)); x=torch.randn(6,4); o=mk(n_.parameters())
    for w_ in want:
        o.zero_grad(); L=nn.functional.cross_entropy(n_(x),y,label_smoothing=.1); L.backward(); o.step(); assert abs(L.item()-w_)<2e-6,(L.item(),w_)
print("all asserts passed")

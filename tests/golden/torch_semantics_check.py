#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Checks against an installed PyTorch the statements of pytorch-semantics.md (all that are marked with a tick and do not concern the
# generator stream). Written for PyTorch 2.15; scripts/golden.sh --check runs it.
# Run: python3 torch_semantics_check.py     (a few seconds, one thread, no GPU); exit status 0 if all assertions hold
import math, sys, warnings
import torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1); torch.manual_seed(0); warnings.simplefilter("ignore")
D = torch.float64
ok = bad = 0
def chk(name, a, b, tol=1e-9):
    global ok, bad
    a = torch.as_tensor(a, dtype=D); b = torch.as_tensor(b, dtype=D)
    good = a.shape == b.shape and bool(torch.allclose(a, b, rtol=tol, atol=tol, equal_nan=True))
    ok += good; bad += (not good)
    if not good: print("FAIL", name, a.tolist() if a.numel() < 20 else a.shape, b.tolist() if b.numel() < 20 else b.shape)
def true(name, c):
    global ok, bad
    ok += bool(c); bad += (not c)
    if not c: print("FAIL", name)
def raises(name, f, sub=""):
    try: f()
    except Exception as e:
        true(name + " :: " + str(e)[:150], sub in str(e)); return str(e)
    true(name + " did not raise", False)

# ---------- losses
N, C = 7, 5
x = torch.randn(N, C, dtype=D); t = torch.tensor([0, 1, 2, 3, 4, 1, -100]); w = torch.rand(C, dtype=D) + .2
lp = x.log_softmax(1); keep = t != -100; tk = t[keep]
nll = -lp[keep].gather(1, tk[:, None]).squeeze(1)
chk("CE mean, ignore_index: divisor = number kept", F.cross_entropy(x, t), nll.mean())
chk("CE mean + weight: divisor = sum of weights of kept targets", F.cross_entropy(x, t, weight=w), (w[tk]*nll).sum()/w[tk].sum())
chk("CE sum + weight", F.cross_entropy(x, t, weight=w, reduction="sum"), (w[tk]*nll).sum())
none = torch.zeros(N, dtype=D); none[keep] = w[tk]*nll
chk("CE none + weight: ignored rows are 0", F.cross_entropy(x, t, weight=w, reduction="none"), none)
e = .1
sm = -(lp[keep]).sum(1)
chk("CE label smoothing, mean", F.cross_entropy(x, t, label_smoothing=e), (1-e)*nll.mean() + e/C*sm.mean())
smw = -(lp[keep]*w).sum(1)
chk("CE label smoothing + weight, mean: BOTH parts divided by sum w[target]", F.cross_entropy(x, t, weight=w, label_smoothing=e),
    (1-e)*(w[tk]*nll).sum()/w[tk].sum() + e/C*smw.sum()/w[tk].sum())
p = torch.rand(N, C, dtype=D).softmax(1)
chk("CE probability targets, mean + weight: divisor = N, not sum of weights", F.cross_entropy(x, p, weight=w), -(p*lp*w).sum()/N)
q = p*(1-e) + e/C
chk("CE probability targets + smoothing", F.cross_entropy(x, p, label_smoothing=e), -(q*lp).sum()/N)
chk("CE all targets ignored, mean -> nan", F.cross_entropy(x, torch.full((N,), -100)), float("nan"))
chk("CE all targets ignored, sum -> 0", F.cross_entropy(x, torch.full((N,), -100), reduction="sum"), 0.)
x4 = torch.randn(2, C, 3, 3, dtype=D); t4 = torch.randint(0, C, (2, 3, 3))
chk("CE K-dim: class dim is 1, divisor N*d1*d2", F.cross_entropy(x4, t4), -x4.log_softmax(1).gather(1, t4[:, None]).mean())
raises("CE target out of range raises (CPU)", lambda: F.cross_entropy(x, torch.full((N,), C)), "out of bounds")
xg = x.clone().requires_grad_(); F.cross_entropy(xg, t, weight=w).backward()
g = torch.zeros(N, C, dtype=D); oh = F.one_hot(tk, C).to(D); g[keep] = (w[tk]/w[tk].sum())[:, None]*(x[keep].softmax(1)-oh)
chk("CE gradient with weight", xg.grad, g)
z = torch.randn(6, 3, dtype=D)*3; y = torch.rand(6, 3, dtype=D); pw = torch.rand(3, dtype=D)*3; wt = torch.rand(6, 3, dtype=D)
base = -(pw*y*F.logsigmoid(z) + (1-y)*F.logsigmoid(-z))
chk("BCEWithLogits pos_weight+weight, mean over ALL elements", F.binary_cross_entropy_with_logits(z, y, weight=wt, pos_weight=pw), (wt*base).mean())
lw = 1 + (pw-1)*y
chk("BCEWithLogits stable form", F.binary_cross_entropy_with_logits(z, y, pos_weight=pw),
    ((1-y)*z + lw*(torch.log1p(torch.exp(-z.abs())) + (-z).clamp(min=0))).mean())
chk("BCELoss clamps log at -100", F.binary_cross_entropy(torch.tensor([0., 1.]), torch.tensor([1., 0.]), reduction="none"), [100., 100.])
a, b = torch.randn(4, 3, dtype=D), torch.randn(4, 3, dtype=D)
chk("MSE mean over all elements", F.mse_loss(a, b), ((a-b)**2).mean())
d = (a-b).abs(); be = .7
chk("SmoothL1 beta", F.smooth_l1_loss(a, b, beta=be, reduction="none"), torch.where(d < be, .5*d*d/be, d-.5*be))
chk("SmoothL1 beta=0 is L1", F.smooth_l1_loss(a, b, beta=0., reduction="none"), d)
chk("Huber = beta*SmoothL1", F.huber_loss(a, b, delta=be, reduction="none"), torch.where(d <= be, .5*d*d, be*(d-.5*be)))
lq = torch.randn(4, 3, dtype=D).log_softmax(1); pp = torch.rand(4, 3, dtype=D).softmax(1)
chk("KLDiv mean divides by ALL elements", F.kl_div(lq, pp), (pp*(pp.log()-lq)).mean())
chk("KLDiv batchmean divides by N", F.kl_div(lq, pp, reduction="batchmean"), (pp*(pp.log()-lq)).sum()/4)
chk("KLDiv log_target", F.kl_div(lq, pp.log(), log_target=True, reduction="sum"), (pp*(pp.log()-lq)).sum())
chk("KLDiv target 0 -> 0", F.kl_div(torch.zeros(2), torch.tensor([0., 1.]), reduction="none"), [0., 0.])
m1, m2, yy = torch.randn(5, dtype=D), torch.randn(5, dtype=D), torch.tensor([1., -1, 1, -1, 1], dtype=D)
chk("MarginRanking", F.margin_ranking_loss(m1, m2, yy, margin=.3), (-yy*(m1-m2)+.3).clamp(min=0).mean())
ap, an = ((a-b+1e-6)**2).sum(1).sqrt(), ((a-a.flip(0)+1e-6)**2).sum(1).sqrt()
chk("TripletMargin: eps 1e-6 is added to the difference, margin 1", F.triplet_margin_loss(a, b, a.flip(0)), (ap-an+1).clamp(min=0).mean())
c1 = F.cosine_similarity(a, b)
chk("CosineEmbedding", F.cosine_embedding_loss(a, b, torch.tensor([1., -1, 1, -1], dtype=D), margin=.1),
    torch.stack([1-c1[0], (c1[1]-.1).clamp(min=0), 1-c1[2], (c1[3]-.1).clamp(min=0)]).mean(), 1e-6)
v = torch.rand(4, 3, dtype=D)
chk("GaussianNLL eps 1e-6 clamp, no constant", F.gaussian_nll_loss(a, b, v), (.5*(v.clamp(min=1e-6).log()+(a-b)**2/v.clamp(min=1e-6))).mean())
chk("PoissonNLL log_input", F.poisson_nll_loss(a, v), (a.exp()-v*a).mean())

# ---------- modules
bn = nn.BatchNorm2d(3).double(); X = torch.randn(4, 3, 5, 5, dtype=D)*2+1; Y = bn(X)
mu = X.mean((0, 2, 3)); vb = X.var((0, 2, 3), unbiased=False); vu = X.var((0, 2, 3), unbiased=True)
chk("BN normalises with biased var", Y, (X-mu[None, :, None, None])/(vb+1e-5).sqrt()[None, :, None, None])
chk("BN running_mean = .9*old+.1*mean", bn.running_mean, .1*mu)
chk("BN running_var uses UNBIASED var", bn.running_var, .9+.1*vu)
true("BN num_batches_tracked int64 scalar", bn.num_batches_tracked.dtype == torch.int64 and bn.num_batches_tracked.item() == 1)
cm = nn.BatchNorm1d(2, momentum=None).double(); A = torch.randn(8, 2, dtype=D); B = torch.randn(8, 2, dtype=D); cm(A); cm(B)
chk("BN momentum=None: cumulative average", cm.running_mean, (A.mean(0)+B.mean(0))/2)
chk("BN momentum=None: first batch replaces the initial 1", cm.running_var, (A.var(0)+B.var(0))/2)
raises("BN one value per channel raises in training", lambda: nn.BatchNorm1d(3)(torch.randn(1, 3)), "Expected more than 1 value per channel")
bn.eval(); chk("BN eval uses running stats", bn(X), (X-bn.running_mean[None, :, None, None])/(bn.running_var+1e-5).sqrt()[None, :, None, None])
nt = nn.BatchNorm1d(3, track_running_stats=False).eval(); E = torch.randn(6, 3)
chk("BN without running stats uses batch stats in eval too", nt(E), (E-E.mean(0))/(E.var(0, unbiased=False)+1e-5).sqrt(), 1e-5)
true("BN state_dict keys", list(nn.BatchNorm2d(2).state_dict()) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"])
ln = nn.LayerNorm(5).double(); L = torch.randn(3, 5, dtype=D)
chk("LayerNorm biased var eps 1e-5", ln(L), (L-L.mean(1, keepdim=True))/(L.var(1, unbiased=False, keepdim=True)+1e-5).sqrt())
G = torch.randn(2, 6, 4, dtype=D); gn = nn.GroupNorm(3, 6).double(); r = G.reshape(2, 3, -1)
chk("GroupNorm: per-group stats over (C/G)*spatial, per-channel affine", gn(G), ((r-r.mean(2, keepdim=True))/(r.var(2, unbiased=False, keepdim=True)+1e-5).sqrt()).reshape(G.shape))
true("InstanceNorm2d default affine=False track=False", nn.InstanceNorm2d(3).weight is None and nn.InstanceNorm2d(3).running_mean is None)
dp = nn.Dropout(.25); o = dp(torch.ones(20000)); vals = set(o.tolist())
true("Dropout scales kept by 1/(1-p)", all(abs(v-1/.75) < 1e-6 or v == 0 for v in vals) and abs((o == 0).float().mean().item()-.25) < .02)
chk("Dropout eval identity", dp.eval()(torch.ones(4)), torch.ones(4)); chk("Dropout p=1 gives 0", F.dropout(torch.ones(4), 1.), torch.zeros(4))
d2 = F.dropout2d(torch.ones(8, 16, 4, 4), .5); true("Dropout2d zeroes whole channels", bool(((d2 == 0).flatten(2).all(2) | (d2 != 0).flatten(2).all(2)).all()))
torch.manual_seed(3); lin = nn.Linear(20, 4000); bnd = 1/math.sqrt(20)
true("Linear init: weight U(+-1/sqrt(fan_in)), bias same bound", lin.weight.abs().max() <= bnd and lin.weight.abs().max() > .99*bnd and lin.bias.abs().max() <= bnd and lin.bias.abs().max() > .98*bnd)
cv = nn.Conv2d(8, 600, 3, groups=2); bnd = 1/math.sqrt(4*9)
true("Conv init: fan_in = (Cin/groups)*kh*kw", cv.weight.abs().max() <= bnd and cv.weight.abs().max() > .99*bnd and cv.bias.abs().max() <= bnd)
ct = nn.ConvTranspose2d(6, 300, 3); bnd = 1/math.sqrt(300*9)
true("ConvTranspose init: fan_in from weight.size(1) = Cout/groups (!)", tuple(ct.weight.shape) == (6, 300, 3, 3) and ct.weight.abs().max() <= bnd and ct.weight.abs().max() > .98*bnd)
torch.manual_seed(1); emb = nn.Embedding(2000, 50, padding_idx=3)
true("Embedding init N(0,1), padding row 0", abs(emb.weight.std().item()-1) < .02 and emb.weight[3].abs().sum() == 0)
emb(torch.tensor([3, 4])).sum().backward(); true("Embedding padding row gets no grad", emb.weight.grad[3].abs().sum() == 0 and emb.weight.grad[4].abs().sum() > 0)
ls = nn.LSTM(3, 400); true("RNN family init U(+-1/sqrt(hidden)) for all weights and biases", all(q.abs().max() <= 1/20 and q.abs().max() > .95/20 for q in ls.parameters()))
true("LSTM keys/shapes", list(nn.LSTM(3, 4).state_dict()) == ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"] and tuple(nn.LSTM(3, 4).weight_ih_l0.shape) == (16, 3))
l = nn.LSTMCell(3, 2).double(); xi = torch.randn(1, 3, dtype=D); h = torch.randn(1, 2, dtype=D); c = torch.randn(1, 2, dtype=D)
gt = xi@l.weight_ih.T+l.bias_ih+h@l.weight_hh.T+l.bias_hh; i_, f_, g_, o_ = gt.chunk(4, 1)
cn = f_.sigmoid()*c+i_.sigmoid()*g_.tanh(); hn = o_.sigmoid()*cn.tanh(); R = l(xi, (h, c)); chk("LSTM gate order i,f,g,o", torch.cat(R), torch.cat([hn, cn]))
gr = nn.GRUCell(3, 2).double(); gi = xi@gr.weight_ih.T+gr.bias_ih; gh = h@gr.weight_hh.T+gr.bias_hh
ir, iz, inn = gi.chunk(3, 1); hr, hz, hnn = gh.chunk(3, 1); rr = (ir+hr).sigmoid(); zz = (iz+hz).sigmoid(); nnn = (inn+rr*hnn).tanh()
chk("GRU order r,z,n; reset applied AFTER W_hn h + b_hn; h' = (1-z)n + z h", gr(xi, h), (1-zz)*nnn+zz*h)
s = torch.linspace(-4, 4, 9, dtype=D)
chk("GELU default is erf", F.gelu(s), .5*s*(1+torch.erf(s/math.sqrt(2)))); chk("GELU tanh", F.gelu(s, approximate="tanh"), .5*s*(1+torch.tanh(math.sqrt(2/math.pi)*(s+.044715*s**3))))
chk("LeakyReLU slope .01", F.leaky_relu(s), torch.where(s > 0, s, .01*s)); chk("SiLU", F.silu(s), s*s.sigmoid()); chk("Hardswish", F.hardswish(s), s*(s+3).clamp(0, 6)/6)
chk("ELU alpha 1", F.elu(s), torch.where(s > 0, s, s.exp()-1)); chk("Softplus threshold 20", F.softplus(torch.tensor([-1., 25.], dtype=D)), torch.tensor([math.log1p(math.exp(-1)), 25.], dtype=D))
true("PReLU init .25, one parameter", nn.PReLU().weight.tolist() == [.25]); chk("Hardsigmoid", F.hardsigmoid(s), (s+3).clamp(0, 6)/6)
rg = torch.zeros(1, requires_grad=True); F.relu(rg).backward(); chk("relu'(0)=0", rg.grad, [0.])
ag = torch.zeros(1, requires_grad=True); ag.abs().backward(); chk("abs'(0)=0", ag.grad, [0.])
mg = torch.tensor([1., 1., 0.], requires_grad=True); mg.max().backward(); chk("max() over all shares grad among ties", mg.grad, [.5, .5, 0.])
mg = torch.tensor([1., 1., 0.], requires_grad=True); mg.max(0).values.backward(); chk("max(dim) sends grad to one index", mg.grad.sum(), 1.)
mp = torch.tensor([[[1., 1., 0., 0.]]], requires_grad=True); F.max_pool1d(mp, 2).sum().backward(); chk("MaxPool ties: first wins", mp.grad, [[[1., 0., 1., 0.]]])
chk("MaxPool pads with -inf", F.max_pool1d(torch.full((1, 1, 2), -5.), 2, 1, 1), torch.full((1, 1, 3), -5.))
chk("MaxPool propagates NaN", F.max_pool1d(torch.tensor([[[1., float('nan')]]]), 2), [[[float('nan')]]])
chk("AvgPool count_include_pad default True", F.avg_pool1d(torch.ones(1, 1, 2), 2, 2, 1), [[[.5, .5]]])
true("MaxPool out size floor / ceil_mode", F.max_pool1d(torch.ones(1, 1, 6), 3, 2).shape[-1] == 2 and F.max_pool1d(torch.ones(1, 1, 6), 3, 2, ceil_mode=True).shape[-1] == 3)
true("ceil_mode: last window must start inside input or left padding", F.max_pool1d(torch.ones(1, 1, 4), 1, 2, ceil_mode=True).shape[-1] == 2)
u = torch.arange(7, dtype=D)[None, None]; st = [(i*7)//3 for i in range(3)]; en = [-((-(i+1)*7)//3) for i in range(3)]
chk("AdaptiveAvgPool windows floor(i*in/out)..ceil((i+1)*in/out)", F.adaptive_avg_pool1d(u, 3)[0, 0], torch.stack([u[0, 0, s0:e0].mean() for s0, e0 in zip(st, en)]))
chk("interpolate bilinear align_corners=False half-pixel", F.interpolate(torch.tensor([[[0., 1.]]]), scale_factor=2, mode="linear")[0, 0], [0., .25, .75, 1.])
chk("interpolate nearest floor(i*in/out)", F.interpolate(torch.tensor([[[0., 1., 2.]]]), size=5, mode="nearest")[0, 0], [0., 0., 1., 1., 2.])
true("conv is cross-correlation", F.conv1d(torch.tensor([[[1., 2., 3.]]]), torch.tensor([[[1., 0.]]])).tolist() == [[[1., 2.]]])
true("ConvTranspose out = (in-1)*s - 2p + d*(k-1) + op + 1", F.conv_transpose1d(torch.ones(1, 1, 4), torch.ones(1, 1, 3), stride=2, padding=1, output_padding=1).shape[-1] == 3*2-2+2+1+1)
true("Flatten default start_dim 1", nn.Flatten()(torch.ones(2, 3, 4)).shape == (2, 12))
mha = nn.MultiheadAttention(8, 2); true("MHA keys", list(mha.state_dict()) == ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"])
bx = math.sqrt(6/(24+8)); true("MHA in_proj xavier_uniform over (3E,E), biases 0", mha.in_proj_weight.abs().max() <= bx and mha.in_proj_bias.abs().sum() == 0 and mha.out_proj.bias.abs().sum() == 0)
tl = nn.TransformerEncoderLayer(8, 2); true("TransformerEncoderLayer defaults", tl.linear1.out_features == 2048 and tl.dropout.p == .1 and not tl.norm_first and tl.norm1.eps == 1e-5)
true("calculate_gain", abs(nn.init.calculate_gain("tanh")-5/3) < 1e-12 and abs(nn.init.calculate_gain("relu")-math.sqrt(2)) < 1e-12 and abs(nn.init.calculate_gain("leaky_relu", math.sqrt(5))-math.sqrt(1/3)) < 1e-12 and nn.init.calculate_gain("selu") == .75)
chk("var/std default unbiased", torch.tensor([1., 2., 4.]).var(), torch.tensor(7/3), 1e-6)

# ---------- optimizers
def run(make, ref, steps=5):
    p = torch.tensor([1., -2., 3.], dtype=D, requires_grad=True); o = make([p]); q = p.detach().clone(); st = {}
    for k in range(1, steps+1):
        gr_ = torch.tensor([.3*k, -.1, .7/k], dtype=D); p.grad = gr_.clone(); o.step(); q = ref(q, gr_, k, st)
    return p.detach(), q
def sgd(lr, m, wd, da, ne):
    def f(q, g, k, st):
        if wd: g = g+wd*q
        if m:
            st['b'] = g.clone() if 'b' not in st else m*st['b']+(1-da)*g     # first step: no dampening
            g = g+m*st['b'] if ne else st['b']
        return q-lr*g
    return f
for m, wd, da, ne in [(0, 0, 0, False), (.9, 0, 0, False), (.9, .01, .5, False), (.9, .01, 0, True)]:
    chk(f"SGD m={m} wd={wd} damp={da} nest={ne}", *run(lambda P: torch.optim.SGD(P, lr=.1, momentum=m, weight_decay=wd, dampening=da, nesterov=ne), sgd(.1, m, wd, da, ne)))
def adam(lr, b1, b2, eps, wd, dec, ams):
    def f(q, g, k, st):
        if dec: q = q*(1-lr*wd)                 # decoupled decay first, on the parameter
        elif wd: g = g+wd*q                     # Adam: L2 in the gradient
        st['m'] = b1*st.get('m', 0)+(1-b1)*g; st['v'] = b2*st.get('v', 0)+(1-b2)*g*g
        v = st['v']
        if ams: st['x'] = torch.maximum(st.get('x', torch.zeros_like(v)), v); v = st['x']
        return q-lr/(1-b1**k)*st['m']/(v.sqrt()/math.sqrt(1-b2**k)+eps)   # eps after the corrected sqrt
    return f
for wd, dec, ams in [(0, False, False), (.1, False, False), (.1, True, False), (.1, True, True), (0, False, True)]:
    O = torch.optim.AdamW if dec else torch.optim.Adam
    chk(f"{O.__name__} wd={wd} ams={ams}", *run(lambda P: O(P, lr=.1, eps=1e-2, weight_decay=wd, amsgrad=ams), adam(.1, .9, .999, 1e-2, wd, dec, ams)))
true("defaults", torch.optim.AdamW([torch.zeros(1)]).defaults["weight_decay"] == .01 and torch.optim.Adam([torch.zeros(1)]).defaults["weight_decay"] == 0 and torch.optim.RMSprop([torch.zeros(1)]).defaults["lr"] == .01 and torch.optim.Adagrad([torch.zeros(1)]).defaults["lr"] == .01 and torch.optim.Adagrad([torch.zeros(1)]).defaults["eps"] == 1e-10 and torch.optim.Adadelta([torch.zeros(1)]).defaults["eps"] == 1e-6)
def rms(lr, al, eps, wd, m, cen):
    def f(q, g, k, st):
        if wd: g = g+wd*q
        st['v'] = al*st.get('v', 0)+(1-al)*g*g; a_ = st['v']
        if cen: st['g'] = al*st.get('g', 0)+(1-al)*g; a_ = a_-st['g']**2
        a_ = a_.sqrt()+eps                       # eps outside the sqrt
        if m: st['b'] = m*st.get('b', 0)+g/a_; return q-lr*st['b']
        return q-lr*g/a_
    return f
for wd, m, cen in [(0, 0, False), (.1, .9, False), (0, .9, True)]:
    chk(f"RMSprop wd={wd} m={m} c={cen}", *run(lambda P: torch.optim.RMSprop(P, lr=.05, weight_decay=wd, momentum=m, centered=cen, eps=1e-3), rms(.05, .99, 1e-3, wd, m, cen)))
def adag(q, g, k, st):
    g = g+.1*q; st['s'] = st.get('s', .2)+g*g; return q-.1/(1+(k-1)*.05)*g/(st['s'].sqrt()+1e-10)
chk("Adagrad", *run(lambda P: torch.optim.Adagrad(P, lr=.1, lr_decay=.05, weight_decay=.1, initial_accumulator_value=.2), adag))
def adad(q, g, k, st):
    st['v'] = .9*st.get('v', 0)+.1*g*g; d_ = ((st.get('u', torch.zeros_like(g))+1e-6)/(st['v']+1e-6)).sqrt()*g; st['u'] = .9*st.get('u', 0)+.1*d_*d_; return q-1.*d_
chk("Adadelta lr 1 rho .9, eps inside the sqrt", *run(lambda P: torch.optim.Adadelta(P), adad))
P0 = torch.zeros(2, requires_grad=True); o = torch.optim.Adam([P0]); o.step(); true("param without grad: no state, no change", len(o.state) == 0)
P0.grad = torch.zeros(2); P1 = torch.ones(2, requires_grad=True); P1.grad = torch.zeros(2); o = torch.optim.AdamW([P1], lr=.1, weight_decay=.5); o.step()
chk("zero grad is not None grad: decay still applies", P1.detach(), torch.full((2,), .95))
raises("nesterov needs momentum>0 and dampening 0", lambda: torch.optim.SGD([P0], lr=.1, nesterov=True), "Nesterov momentum requires")
sd = torch.optim.AdamW([P1, P0]).state_dict(); true("optimizer state_dict = {state:{int:{...}}, param_groups:[{..., params:[ints]}]}", set(sd) == {"state", "param_groups"} and sd["param_groups"][0]["params"] == [0, 1])
o = torch.optim.Adam([P1]); o.step(); true("Adam state keys step/exp_avg/exp_avg_sq; step is a float tensor", set(o.state_dict()["state"][0]) == {"step", "exp_avg", "exp_avg_sq"} and torch.is_tensor(o.state_dict()["state"][0]["step"]))
raises("load_state_dict group mismatch", lambda: o.load_state_dict(sd), "doesn't match the size")
raises("empty parameter list", lambda: torch.optim.SGD([], lr=.1), "empty parameter list")

# ---------- clipping
def clip(vs, mx, nt=2.):
    ps = [torch.zeros(len(v)) for v in vs]
    for p_, v in zip(ps, vs): p_.grad = torch.tensor(v)
    n = nn.utils.clip_grad_norm_(ps, mx, nt); return n, [p_.grad for p_ in ps]
n, gs = clip([[3., 0.], [4.]], 1.); chk("clip returns the norm before clipping", n, 5.); chk("clip coef = max/(norm+1e-6)", gs[1], [4*1/(5+1e-6)], 1e-7)
n, gs = clip([[.3], [.4]], 1.); chk("clip never scales up", gs[0], torch.tensor([.3]), 1e-7)
n, gs = clip([[3., -9.], [4.]], 1., float("inf")); chk("inf norm", n, 9.)
n, gs = clip([[float("inf")], [1.]], 1.); true("non-finite norm: grads become nan/0 silently", math.isnan(gs[0].item()) and gs[1].item() == 0)

# ---------- schedulers
def lrs(mk, n, lr=1., metric=None, opt=None, key="lr"):
    o_ = (opt or (lambda P: torch.optim.SGD(P, lr=lr, momentum=.9)))([torch.zeros(1, requires_grad=True)]); s_ = mk(o_); out = []
    for k in range(n):
        out.append(o_.param_groups[0][key]); o_.step(); s_.step(metric[k]) if metric else s_.step()
    return out
S = torch.optim.lr_scheduler
chk("StepLR", lrs(lambda o_: S.StepLR(o_, 2, .1), 6), [1, 1, .1, .1, .01, .01])
chk("MultiStepLR", lrs(lambda o_: S.MultiStepLR(o_, [1, 3], .1), 5), [1, .1, .1, .01, .01])
chk("MultiStepLR repeated milestone multiplies twice", lrs(lambda o_: S.MultiStepLR(o_, [2, 2], .1), 4), [1, 1, .01, .01])
chk("ExponentialLR", lrs(lambda o_: S.ExponentialLR(o_, .5), 4), [1, .5, .25, .125])
chk("LambdaLR multiplies the INITIAL lr", lrs(lambda o_: S.LambdaLR(o_, lambda k: 1/(k+1)), 4), [1, 1/2, 1/3, 1/4])
T = 5; chk("CosineAnnealingLR == closed form incl. beyond T_max", lrs(lambda o_: S.CosineAnnealingLR(o_, T, eta_min=.1), 13), [.1+.9*(1+math.cos(math.pi*k/T))/2 for k in range(13)], 1e-7)
def sgdr(n, T0, mult, mn):
    out, tc, ti = [], 0, T0
    for _ in range(n):
        out.append(mn+(1-mn)*(1+math.cos(math.pi*tc/ti))/2); tc += 1
        if tc >= ti: tc -= ti; ti *= mult
    return out
chk("CosineAnnealingWarmRestarts", lrs(lambda o_: S.CosineAnnealingWarmRestarts(o_, 3, 2, .1), 12), sgdr(12, 3, 2, .1))
chk("LinearLR start 1/3 -> 1 over 5", lrs(lambda o_: S.LinearLR(o_), 7), [1/3+(2/3)*min(k, 5)/5 for k in range(7)], 1e-7)
chk("ConstantLR 1/3 for 5 steps then 1", lrs(lambda o_: S.ConstantLR(o_), 7), [1/3]*5+[1, 1], 1e-7)
if hasattr(S, "PolynomialLR"): chk("PolynomialLR", lrs(lambda o_: S.PolynomialLR(o_, 4, 2.), 6), [(1-min(k, 4)/4)**2 for k in range(6)], 1e-7)
chk("SequentialLR: second schedule restarts from step 0 at the milestone", lrs(lambda o_: S.SequentialLR(o_, [S.LinearLR(o_, .1, total_iters=3), S.CosineAnnealingLR(o_, 4)], [3]), 7), [.1, .4, .7, 1.]+[(1+math.cos(math.pi*k/4))/2 for k in (1, 2, 3)], 1e-6)
def onecycle(n, mx, ps, div, fdiv, three, lin=False):
    ini, mn = mx/div, mx/div/fdiv
    ph = [(ps*n-1, ini, mx, .95, .85), (2*ps*n-2, mx, ini, .85, .95), (n-1, ini, mn, .95, .95)] if three else [(ps*n-1, ini, mx, .95, .85), (n-1, mx, mn, .85, .95)]
    an = (lambda a_, b_, t_: (b_-a_)*t_+a_) if lin else (lambda a_, b_, t_: b_+(a_-b_)/2*(math.cos(math.pi*t_)+1)); L_, M_ = [], []
    for k in range(n):
        s0 = 0
        for i_, (e0, a_, b_, c_, d_) in enumerate(ph):
            if k <= e0 or i_ == len(ph)-1: t_ = (k-s0)/(e0-s0); L_.append(an(a_, b_, t_)); M_.append(an(c_, d_, t_)); break
            s0 = e0
    return L_, M_
for three, lin in [(False, False), (True, False), (False, True)]:
    mk = lambda o_: S.OneCycleLR(o_, 2., total_steps=20, three_phase=three, anneal_strategy="linear" if lin else "cos")
    rl, rm = onecycle(20, 2., .3, 25., 1e4, three, lin)
    chk(f"OneCycle lr three={three} lin={lin}", lrs(mk, 19), rl[:19], 1e-9)
    chk(f"OneCycle momentum (inverse) three={three}", lrs(mk, 19, key="momentum"), rm[:19], 1e-9)
chk("OneCycle cycles beta1 for Adam", [b_[0] for b_ in lrs(lambda o_: S.OneCycleLR(o_, 1., total_steps=10), 9, opt=lambda P: torch.optim.Adam(P, lr=1.), key="betas")], onecycle(10, 1., .3, 25., 1e4, False)[1][:9])
chk("ReduceLROnPlateau: patience 2 -> cut at the 3rd bad", lrs(lambda o_: S.ReduceLROnPlateau(o_, patience=2), 6, metric=[1., 1., 1., 1., 1., 1.]), [1, 1, 1, 1, .1, .1])
chk("ReduceLROnPlateau threshold rel 1e-4", lrs(lambda o_: S.ReduceLROnPlateau(o_, patience=0), 3, metric=[1., .99995, .9]), [1, 1, .1])
chk("ReduceLROnPlateau cooldown", lrs(lambda o_: S.ReduceLROnPlateau(o_, patience=0, cooldown=2), 6, metric=[1.]*6), [1, 1, .1, .1, .1, .01])

# ---------- state dict, module semantics
m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)); sd = m.state_dict(); sd["extra"] = torch.zeros(1); del sd["0.bias"]; sd["0.weight"] = torch.zeros(4, 2)
msg = raises("load_state_dict strict", lambda: m.load_state_dict(sd), 'Missing key(s) in state_dict: "0.bias". '); print(msg)
true("unexpected + size mismatch in the same message", 'Unexpected key(s) in state_dict: "extra". ' in msg and "size mismatch for 0.weight: copying a param with shape torch.Size([4, 2]) from checkpoint, the shape in current model is torch.Size([3, 2])." in msg)
sd2 = m.state_dict(); sd2["extra"] = torch.zeros(1); del sd2["0.bias"]; r_ = m.load_state_dict(sd2, strict=False); true("strict=False returns the key lists", r_.missing_keys == ["0.bias"] and r_.unexpected_keys == ["extra"])
raises("strict=False still fails on size mismatch", lambda: m.load_state_dict({"0.weight": torch.zeros(9, 9)}, strict=False), "size mismatch")
true("DataParallel prefix module.", list(nn.DataParallel(nn.Linear(1, 1)).state_dict()) == ["module.weight", "module.bias"])
ce = nn.CrossEntropyLoss(weight=torch.ones(3)); true("loss weight is a buffer, moved by .to()", [k for k, _ in ce.named_buffers()] == ["weight"] and ce.double().weight.dtype == torch.float64)
m2 = nn.Linear(2, 2); w0 = m2.weight; m2.double(); true("module.to is in place and keeps the Parameter object", m2.weight is w0 and w0.dtype == torch.float64)
t1 = torch.ones(2); true("tensor.to returns self when nothing changes, a copy otherwise", t1.to("cpu") is t1 and t1.to(torch.float64) is not t1)
ii = nn.Module(); ii.register_buffer("i", torch.ones(2, dtype=torch.int64)); true("module.half leaves integer buffers", ii.half().i.dtype == torch.int64)
nb = nn.Module(); nb.register_buffer("a", torch.ones(1), persistent=False); true("non-persistent buffer not in state_dict", len(nb.state_dict()) == 0)
gA = torch.ones(2, requires_grad=True); (gA*2).sum().backward(); (gA*3).sum().backward(); chk("grads accumulate", gA.grad, [5., 5.])
raises("second backward", lambda: (lambda l_: (l_.backward(), l_.backward()))((gA*gA).sum()), "second time")
raises("backward on non-scalar", lambda: (gA*2).backward(), "grad can be implicitly created only for scalar outputs")
raises("in-place on leaf", lambda: gA.add_(1), "a leaf Variable that requires grad")
def ver():
    a_ = torch.ones(2, requires_grad=True).exp(); b_ = a_*a_; a_.add_(1); b_.sum().backward()
raises("version counter", ver, "modified by an inplace operation")
raises("linear shape error text", lambda: F.linear(torch.ones(2, 3), torch.ones(4, 5)), "mat1 and mat2 shapes cannot be multiplied (2x3 and 5x4)")
raises("broadcast error text", lambda: torch.ones(2, 3)+torch.ones(4), "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1")
raises("view error text", lambda: torch.ones(2, 3).view(4), "shape '[4]' is invalid for input of size 6")
# ---------- DataLoader
from torch.utils.data import DataLoader, TensorDataset, BatchSampler, SequentialSampler
dl = DataLoader(TensorDataset(torch.arange(10)), batch_size=4); true("last partial batch kept, len=ceil", len(dl) == 3 and [len(b_[0]) for b_ in dl] == [4, 4, 2])
true("drop_last", len(DataLoader(TensorDataset(torch.arange(10)), batch_size=4, drop_last=True)) == 2)
def order(seed): g_ = torch.Generator(); g_.manual_seed(seed); return torch.cat([b_[0] for b_ in DataLoader(TensorDataset(torch.arange(50)), batch_size=7, shuffle=True, generator=g_)]).tolist()
true("shuffle reproducible from generator seed", order(1) == order(1) and order(1) != order(2))

# ---------- further checks
raises("OneCycle one step too many", lambda: lrs(lambda o_: S.OneCycleLR(o_, 1., total_steps=3), 8), "Tried to step")
chk("ReduceLROnPlateau NaN counts as bad", lrs(lambda o_: S.ReduceLROnPlateau(o_, patience=0), 3, metric=[1., float("nan"), 1.]), [1, 1, .1])
chk("ReduceLROnPlateau abs threshold, max mode", lrs(lambda o_: S.ReduceLROnPlateau(o_, "max", patience=0, threshold=.1, threshold_mode="abs"), 4, metric=[1., 1.05, 1.2, 1.2]), [1, 1, .1, .1])
def tri(n, lo, hi, up): return [lo+(hi-lo)*max(0., 1-abs(k/up-2*math.floor(1+k/(2*up))+1)) for k in range(n)]
chk("CyclicLR triangular", lrs(lambda o_: S.CyclicLR(o_, .1, 1., step_size_up=3), 10), tri(10, .1, 1., 3))
chk("AvgPool ceil_mode: part beyond the padded input is not counted", F.avg_pool1d(torch.ones(1, 1, 3), 2, 2, ceil_mode=True), [[[1., 1.]]])
mh = nn.MultiheadAttention(4, 1, batch_first=True); qq = torch.randn(1, 3, 4)
_, aw = mh(qq, qq, qq, attn_mask=torch.tensor([[False, True, True]]*3)); chk("MHA bool mask: True = not allowed", aw[0, :, 0].detach(), torch.ones(3), 1e-6)
em = nn.Embedding(3, 4, max_norm=1.); em.weight.data.fill_(2.); em(torch.tensor([1])); true("Embedding max_norm renormalises looked-up rows in place", abs(em.weight[1].norm().item()-1) < 1e-5 and em.weight[0].norm().item() == 4.)
raises("conv channels text", lambda: nn.Conv2d(3, 4, 3)(torch.ones(1, 5, 8, 8)), "to have 3 channels, but got 5 channels instead")
raises("conv kernel text", lambda: nn.Conv2d(3, 4, 9)(torch.ones(1, 3, 5, 5)), "Kernel size can't be greater than actual input size")
raises("CE batch text", lambda: nn.CrossEntropyLoss()(torch.ones(4, 3), torch.ones(5, dtype=torch.long)), "Expected input batch_size (4) to match target batch_size (5).")
raises("BCE size text", lambda: nn.BCEWithLogitsLoss()(torch.ones(4, 1), torch.ones(4)), "must be the same as input size")
raises("BN features text", lambda: nn.BatchNorm2d(4)(torch.ones(2, 3, 4, 4)), "running_mean should contain 3 elements not 4")
raises("embedding range text", lambda: nn.Embedding(5, 2)(torch.tensor([7])), "index out of range in self")
raises("no graph text", lambda: torch.ones(2).backward(), "does not require grad and does not have a grad_fn")
raises("duplicate parameters in groups", lambda: torch.optim.SGD([{"params": [P0]}, {"params": [P0]}], lr=.1), "some parameters appear in more than one parameter group")
raises("device string", lambda: torch.device("cuda:x"), "Invalid device string")
tgt = torch.tensor([0, 1]); chk("optimizer load_state_dict also restores lr", (lambda o1, o2: (o2.load_state_dict(o1.state_dict()), o2.param_groups[0]["lr"])[1])(torch.optim.SGD([P0], lr=.5), torch.optim.SGD([P0], lr=.1)), .5)
sm = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)); bsd = {"0.weight": torch.full((2, 2), 7.), "9.x": torch.zeros(1)}
try: sm.load_state_dict(bsd)
except RuntimeError: pass
true("a failed strict load has already copied the matching keys", bool((sm[0].weight == 7).all()))
tied = nn.Sequential(nn.Linear(2, 2)); tied.add_module("again", tied[0]); true("shared module: once in parameters(), twice in state_dict()", len(list(tied.parameters())) == 2 and len(tied.state_dict()) == 4)
# ---------- texts, defaults and rules
raises("device type text", lambda: torch.device("gpu"), "Expected one of cpu, cuda,")
raises("padding='same' needs stride 1", lambda: nn.Conv1d(1, 1, 3, stride=2, padding="same"), "padding='same' is not supported for strided convolutions")
sc = nn.Conv1d(1, 1, 4, padding="same", bias=False); sc.weight.data.copy_(torch.tensor([[[1., 0., 0., 0.]]])); chk("padding='same': left = total/2 rounded down", sc(torch.tensor([[[1., 2., 3., 4.]]])).detach(), [[[0., 1., 2., 3.]]])
raises("max_pool padding at most half the kernel", lambda: F.max_pool1d(torch.ones(1, 1, 8), 3, padding=2), "at most half of")
true("RNN second direction has the suffix _reverse", "weight_ih_l0_reverse" in nn.LSTM(2, 3, bidirectional=True).state_dict())
m4 = nn.MultiheadAttention(4, 2, batch_first=True); q4 = torch.randn(1, 3, 4); chk("MHA returns weights averaged over the heads", m4(q4, q4, q4)[1].detach(), m4(q4, q4, q4, average_attn_weights=False)[1].detach().mean(1), 1e-6)
te = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2); true("TransformerEncoder copies one layer", torch.equal(te.layers[0].linear1.weight, te.layers[1].linear1.weight) and te.layers[0] is not te.layers[1])
true("calculate_gain of others is 1", all(nn.init.calculate_gain(n_) == 1 for n_ in ("linear", "conv2d", "sigmoid")))
torch.manual_seed(0); kw = torch.empty(400, 300, dtype=D); chk("kaiming_normal std = gain/sqrt(fan)", nn.init.kaiming_normal_(kw, nonlinearity="relu").std(), math.sqrt(2/300), 1e-2)
chk("xavier_normal std", nn.init.xavier_normal_(kw).std(), math.sqrt(2/700), 1e-2)
tn = nn.init.trunc_normal_(kw, std=10.); true("trunc_normal_ cuts at absolute -2 and 2", tn.abs().max() <= 2 and tn.abs().max() > 1.9)
raises("CE ignore_index with probabilities", lambda: F.cross_entropy(x, p, ignore_index=1), "ignore_index is not supported for floating point target")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always"); F.mse_loss(torch.ones(4), torch.ones(4, 1))
true("MSE broadcasts with a warning", any("Using a target size" in str(w_.message) for w_ in seen))
def state_of(O, **k):
    P2 = torch.ones(2, requires_grad=True); P2.grad = torch.ones(2); o_ = O([P2], **k); before = len(o_.state); o_.step(); return before, o_.state_dict()["state"][0] if o_.state_dict()["state"] else {}
for O, k, keys in ((torch.optim.SGD, dict(lr=.1, momentum=.9), "momentum_buffer"), (torch.optim.Adam, dict(amsgrad=True), "step exp_avg exp_avg_sq max_exp_avg_sq"), (torch.optim.AdamW, {}, "step exp_avg exp_avg_sq"),
                   (torch.optim.RMSprop, {}, "step square_avg"), (torch.optim.RMSprop, dict(momentum=.9, centered=True), "step square_avg momentum_buffer grad_avg"), (torch.optim.Adagrad, {}, "step sum"), (torch.optim.Adadelta, {}, "step square_avg acc_delta")):
    made, st_ = state_of(O, **k); true(f"{O.__name__} state keys {sorted(st_)}", set(st_) == set(keys.split()))
    if "step" in st_: true(f"{O.__name__} step is a float32 tensor of 0 dimensions", torch.is_tensor(st_["step"]) and st_["step"].dtype == torch.float32 and st_["step"].dim() == 0)
    true(f"{O.__name__}: only Adagrad makes its state in the constructor", bool(made) == (O is torch.optim.Adagrad))
true("SGD without momentum has no state", state_of(torch.optim.SGD)[1] == {})
true("SGD has the default lr 1e-3", torch.optim.SGD([torch.zeros(1)]).defaults["lr"] == 1e-3)
P3 = torch.ones(2, requires_grad=True, dtype=D); P3.grad = torch.ones(2, dtype=D); oA = torch.optim.Adam([P3]); oA.step(); P4 = torch.ones(2, requires_grad=True); oB = torch.optim.Adam([P4]); oB.load_state_dict(oA.state_dict())
true("load_state_dict casts state to the parameter's dtype, but not step", oB.state[P4]["exp_avg"].dtype == torch.float32 and oB.state[P4]["step"].dtype == torch.float32)
raises("error_if_nonfinite", lambda: (setattr(P4, "grad", torch.full((2,), float("nan"))), nn.utils.clip_grad_norm_([P4], 1., error_if_nonfinite=True)), "is non-finite")
P4.grad = torch.tensor([-3., .5]); nn.utils.clip_grad_value_([P4], 1.); chk("clip_grad_value_", P4.grad, [-1., .5])
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always"); oW = torch.optim.SGD([P4], lr=.1); sW = S.StepLR(oW, 1); sW.step()
true("scheduler before optimizer warns", any("lr_scheduler.step()` before `optimizer.step()" in str(w_.message) for w_ in seen))
oW = torch.optim.SGD([P4], lr=1.); sW = S.CosineAnnealingWarmRestarts(oW, 4); sW.step(1.5); chk("CosineAnnealingWarmRestarts: fractional step", oW.param_groups[0]["lr"], (1+math.cos(math.pi*1.5/4))/2)
oW = torch.optim.SGD([P4], lr=1., momentum=.5); S.CyclicLR(oW, .1, 1.); chk("CyclicLR momentum starts at the maximum", oW.param_groups[0]["momentum"], .9)
oW = torch.optim.Adam([P4]); S.CyclicLR(oW, .1, 1.); chk("CyclicLR takes Adam and cycles beta1", oW.param_groups[0]["betas"][0], .9)
oW = torch.optim.SGD([P4], lr=1., momentum=.5); sW = S.OneCycleLR(oW, 1., total_steps=5)
for _ in range(5): sW.step()
raises("OneCycleLR: total_steps steps pass, one more raises", sW.step, "Tried to step")
dl = DataLoader(TensorDataset(torch.arange(10))); true("DataLoader defaults", dl.pin_memory is False and dl.persistent_workers is False and DataLoader(TensorDataset(torch.arange(4)), num_workers=1).prefetch_factor == 2)
gd, gp = torch.Generator().manual_seed(3), torch.Generator().manual_seed(3); od = torch.cat([b_[0] for b_ in DataLoader(TensorDataset(torch.arange(20)), shuffle=True, generator=gd)]).tolist()
torch.empty((), dtype=torch.int64).random_(generator=gp); true("with a generator: base_seed and randperm from it directly", od == torch.randperm(20, generator=gp).tolist())
class Seeds(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, i): return i, torch.utils.data.get_worker_info().seed
torch.manual_seed(0); base = torch.empty((), dtype=torch.int64).random_().item(); torch.manual_seed(0); got = [(i_.item(), s_.item()) for i_, s_ in DataLoader(Seeds(), num_workers=2)]
true("worker i has the seed base_seed + i; the order is the sampler's", got == [(k, base+k % 2) for k in range(4)])
for want, mk in ((2.1260321, lambda P: torch.optim.SGD(P, lr=.1, momentum=.9, nesterov=True, weight_decay=1e-2)), (2.1292882, lambda P: torch.optim.AdamW(P, lr=1e-2))):
    torch.manual_seed(0); n_ = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)); xs = torch.randn(6, 4); o_ = mk(n_.parameters())
    for _ in range(5): o_.zero_grad(); F.cross_entropy(n_(xs), torch.tensor([0, 1, 2, 0, 1, 2]), label_smoothing=.1).backward(); o_.step()
    chk("norm after five steps", math.sqrt(sum((q_.detach().double()**2).sum().item() for q_ in n_.parameters())), want, 1e-6)
bn = nn.Sequential(nn.BatchNorm1d(2)); true("state dict: parameters, then buffers", list(bn.state_dict()) == ["0.weight", "0.bias", "0.running_mean", "0.running_var", "0.num_batches_tracked"] and bn.state_dict()._metadata["0"]["version"] == 2)
old = bn.state_dict(); meta = old._metadata; del old["0.num_batches_tracked"]; raises("version 2 without num_batches_tracked", lambda: bn.load_state_dict(old), "num_batches_tracked"); meta["0"]["version"] = 1; bn.load_state_dict(old)
plain = dict(old); bn.load_state_dict(plain); true("a plain dict without it is taken", True)
# ---------- files
import io, pickletools, struct, tempfile, zipfile
with tempfile.TemporaryDirectory() as where:
    torch.save({"w": nn.Parameter(torch.ones(2, 3)), "n": [1, None, True, 2.5]}, where+"/net.pt"); raw = open(where+"/net.pt", "rb").read()
zf = zipfile.ZipFile(io.BytesIO(raw)); infos = {i_.filename: i_ for i_ in zf.infolist()}
true(".pt: entries", {"net/data.pkl", "net/data/0", "net/version", "net/byteorder", "net/.format_version", "net/.storage_alignment"} <= set(infos) and zf.read("net/version") == b"3\n")
def local(i_):
    f_ = struct.unpack("<4sHHHHHIIIHH", raw[i_.header_offset:i_.header_offset+30]); return f_, i_.header_offset+30+f_[9]+f_[10]
true(".pt: uncompressed, data at multiples of 64, flag bit 3, CRC and sizes 0 in front", all(i_.compress_type == 0 and local(i_)[1] % 64 == 0 and local(i_)[0][2] & 8 and local(i_)[0][6:9] == (0, 0, 0) for i_ in infos.values()))
stream = io.BytesIO(); torch.save(torch.ones(1), stream); true(".pt: the folder in a stream is archive", "archive/data.pkl" in zipfile.ZipFile(stream).namelist())
ops = list(pickletools.genops(zf.read("net/data.pkl"))); true(".pt: pickle protocol 2", ops[0][0].name == "PROTO" and ops[0][1] == 2)
true(".pt: globals", {a_.replace(" ", ".") for o_, a_, _ in ops if o_.name == "GLOBAL"} == {"torch._utils._rebuild_parameter", "torch._utils._rebuild_tensor_v2", "torch.FloatStorage", "collections.OrderedDict"})
# ---------- kinks, at bounds
def slope_at(f, at):
    t_ = torch.tensor(at, dtype=D, requires_grad=True); f(t_).sum().backward(); return t_.grad
chk("clamp with numbers: gradient 0 at a bound", slope_at(lambda t_: t_.clamp(-1, 1), [-2., -1., 0., 1., 2.]), [0, 0, 1, 0, 0])
chk("clamp with tensors: 1/2 at a bound", slope_at(lambda t_: t_.clamp(torch.tensor(-1., dtype=D), torch.tensor(1., dtype=D)), [-1., 0., 1.]), [.5, 1, .5])
chk("clamp_min, clamp_max at the bound", torch.stack([slope_at(lambda t_: t_.clamp_min(1), [1.]), slope_at(lambda t_: t_.clamp_max(1), [1.])]), [[0.], [0.]])
o1, o2 = torch.ones(1, dtype=D), torch.zeros(1, dtype=D)
chk("MarginRanking at its kink", slope_at(lambda t_: F.margin_ranking_loss(t_, o2, o1, margin=1.), [1.]), [0.]); chk("HingeEmbedding at its kink", slope_at(lambda t_: F.hinge_embedding_loss(t_, -o1), [1.]), [0.])
chk("MultiMargin at its kink", slope_at(lambda t_: F.multi_margin_loss(t_, torch.tensor([0])), [[1., 0.]]), [[0., 0.]])
chk("std of equal values", slope_at(lambda t_: t_.std(correction=0), [2., 2.]), [0., 0.])
rn = nn.RMSNorm(4, elementwise_affine=False); tiny = torch.full((4,), 2.**-12, dtype=torch.float16); chk("RMSNorm eps None of float16 is float32's", rn(tiny).double(), tiny.double()/math.sqrt(2**-24+torch.finfo(torch.float32).eps), 2e-3)
mk_ = torch.zeros(1, 1, 2, 2, dtype=torch.bool); q1 = torch.randn(1, 1, 2, 4); chk("attention with every key masked gives 0", F.scaled_dot_product_attention(q1, q1, q1, attn_mask=mk_), torch.zeros(1, 1, 2, 4))
# ---------- RNG: CPU generator known values
torch.manual_seed(0); print("manual_seed(0) rand(3):", torch.rand(3).tolist()); torch.manual_seed(0); print("manual_seed(0) randn(3):", torch.randn(3).tolist()); torch.manual_seed(0); print("randperm(8):", torch.randperm(8).tolist())
torch.manual_seed(0); l0 = nn.Linear(3, 2); print("Linear(3,2) seed 0 weight:", [round(v_, 7) for v_ in l0.weight.flatten().tolist()], "bias:", [round(v_, 7) for v_ in l0.bias.tolist()])
print(f"{ok} passed, {bad} failed")
sys.exit(bad != 0)

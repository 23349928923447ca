# SPDX-License-Identifier: Apache-2.0
"""The convolutions of gpu_convs.c in PyTorch, by the same words and in the same lines.

    torch_convs.py N,C,SIDE,K,KERNEL,STRIDE,PADDING,GROUPS...

cuDNN chooses by measuring; its calls are captured."""
import statistics
import sys
import time

TRIALS, CALLS, LAUNCHES = 5, 5, 4


def seconds_of(torch, call):
    """Of one call, which warms up on another stream, as captures ask for."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    trials = []
    for _ in range(TRIALS + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(LAUNCHES):
            graph.replay()
        torch.cuda.synchronize()
        trials.append((time.perf_counter() - begin) / (CALLS * LAUNCHES))
    return statistics.median(trials[1:])


def measure(torch, words, name, dtype, tf32):
    n, c, side, k, kernel, stride, padding, groups = map(int, words.split(","))
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cuda.matmul.allow_tf32 = tf32
    out = (side + 2 * padding - kernel) // stride + 1
    where = {"device": "cuda", "dtype": dtype}
    x = torch.randn(n, c, side, side, **where)
    weight = torch.randn(k, c // groups, kernel, kernel, **where)
    y = torch.randn(n, k, out, out, **where)

    def backward(*mask):
        return torch.ops.aten.convolution_backward(
            y, x, weight, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups,
            [*mask, False])

    times = [seconds_of(torch, call) for call in (
        lambda: torch.nn.functional.conv2d(x, weight, None, stride, padding, 1, groups),
        lambda: backward(True, False), lambda: backward(False, True))]
    flops = 2 * n * k * out * out * (c // groups) * kernel * kernel
    forward, gradient, weights = (f"{t * 1e6:.1f}%s, {flops / t * 1e-12:.2f}" for t in times)
    print(f"torch {words} {name}: forward {forward % ' us'} TFLOP/s; input {gradient % ''}; "
          f"weight {weights % ''}", flush=True)


def main(shapes):
    try:
        import torch
    except ImportError as lacking:
        print(f"no PyTorch: {lacking}")
        return 0
    if not torch.cuda.is_available():
        print(f"PyTorch {torch.__version__} sees no CUDA device")
        return 0
    torch.backends.cudnn.benchmark = True
    print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    for words in shapes:
        for name, dtype, tf32 in (("float32", torch.float32, False), ("TF32", torch.float32, True),
                                  ("bfloat16", torch.bfloat16, False)):
            measure(torch, words, name, dtype, tf32)
    return 0


sys.exit(main(sys.argv[1:]))

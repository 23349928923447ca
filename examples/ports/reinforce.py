# SPDX-License-Identifier: Apache-2.0
# Policy gradient (REINFORCE): learns to balance a pole on a cart.
import math

import torch
from torch import nn

EPISODES, LONGEST, GAMMA = 100, 200, 0.99


def push(state, right):
    """The cart and its pole 0.02 seconds later (Barto, Sutton and Anderson 1983)."""
    x, v, angle, spin = state
    force = 10.0 if right else -10.0
    sine, cosine = math.sin(angle), math.cos(angle)
    pull = (force + 0.05 * spin * spin * sine) / 1.1
    twist = (9.8 * sine - cosine * pull) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
    along = pull - 0.05 * twist * cosine / 1.1
    return [x + 0.02 * v, v + 0.02 * along, angle + 0.02 * spin, spin + 0.02 * twist]


torch.manual_seed(11)
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-2)

for episode in range(1, EPISODES + 1):
    state = (torch.rand(4) * 0.1 - 0.05).tolist()
    log_probs = []
    while len(log_probs) < LONGEST and abs(state[0]) < 2.4 and abs(state[2]) < 0.2095:
        log_prob = torch.log_softmax(policy(torch.tensor(state)), 0)
        action = int(torch.rand(1).item() > log_prob[0].exp().item())  # inverse transform
        log_probs.append(log_prob[action])
        state = push(state, action)

    steps = len(log_probs)
    returns = [(1 - GAMMA ** (steps - t)) / (1 - GAMMA) for t in range(steps)]
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / returns.std()
    loss = -(torch.stack(log_probs) * returns).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if episode % 10 == 0:
        print(f"episode {episode}: {steps} steps, loss {loss:.6f}")

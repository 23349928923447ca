// SPDX-License-Identifier: Apache-2.0
// The tape's scalars: values, slopes, and what rounding can make of both.
#include <math.h>
#include "reference.h"

// Values are compared in float32 too: a choice between two values nearer than their errors in it
// could go either way.
#define UNIT 0x1p-23

double machine_value(const machine *m, int node)
{
    return m->nodes[node].value;
}

static bool is_sane(const scalar *n)
{
    bool sane = fabs(n->value) <= 256 && n->error * UNIT <= 1e-3;
    for (int i = 0; i < 2; i++)
        sane = sane && fabs(n->partial[i]) <= 256 && n->slack[i] * UNIT <= 1e-2;
    return sane;
}

int machine_node(machine *m, double value, double rounding, int a, double pa, double slack_a, int b,
                 double pb, double slack_b)
{
    if (m->node_count == MOST_NODES) {
        m->refused = true;
        return 0;
    }
    scalar n = {.value = value, .error = rounding};
    n.error += a < 0 ? 0 : fabs(pa) * m->nodes[a].error;
    n.error += b < 0 ? 0 : fabs(pb) * m->nodes[b].error;
    n.parent[0] = m->recording ? a : -1;
    n.parent[1] = m->recording ? b : -1;
    n.partial[0] = pa;
    n.partial[1] = pb;
    n.slack[0] = slack_a;
    n.slack[1] = slack_b;
    m->refused |= !is_sane(&n);
    m->nodes[m->node_count] = n;
    return m->node_count++;
}

int machine_constant(machine *m, double value)
{
    return machine_node(m, value, 0, -1, 0, 0, -1, 0, 0);
}

static double error_of(const machine *m, int node)
{
    return m->nodes[node].error;
}

int scalar_add(machine *m, int a, int b)
{
    const double y = machine_value(m, a) + machine_value(m, b);
    return machine_node(m, y, fabs(y), a, 1, 0, b, 1, 0);
}

int scalar_sub(machine *m, int a, int b)
{
    const double y = machine_value(m, a) - machine_value(m, b);
    return machine_node(m, y, fabs(y), a, 1, 0, b, -1, 0);
}

int scalar_mul(machine *m, int a, int b)
{
    const double x = machine_value(m, a), z = machine_value(m, b);
    const double both = error_of(m, a) * error_of(m, b) * UNIT; // all there is where x and z are 0
    return machine_node(m, x * z, fabs(x * z) + both, a, z, error_of(m, b), b, x, error_of(m, a));
}

int scalar_div(machine *m, int a, int b)
{
    const double x = machine_value(m, a), z = machine_value(m, b), q = 1 / z;
    const double slack = q * q * error_of(m, b) + 2 * fabs(q);
    const double slack_b =
        q * q * error_of(m, a) + 2 * fabs(x * q * q * q) * error_of(m, b) + 3 * fabs(x * q * q);
    return machine_node(m, x * q, fabs(x * q), a, q, slack, b, -x * q * q, slack_b);
}

int scalar_scale(machine *m, int a, double factor)
{
    const double y = machine_value(m, a) * factor;
    return machine_node(m, y, fabs(y), a, factor, fabs(factor), -1, 0, 0);
}

// Refuses what rounding may decide: a distance of at most its error, unless both are exact.
static void decide(machine *m, double distance, double error)
{
    m->refused |= error > 0 && fabs(distance) <= 64 * error * UNIT;
}

int scalar_largest(machine *m, int a, int b, bool smaller)
{
    const double x = machine_value(m, a), z = machine_value(m, b);
    if (a != b)
        decide(m, x - z, error_of(m, a) + error_of(m, b));
    if (x == z)
        return machine_node(m, x, 0, a, 0.5, 0, b, 0.5, 0);
    const double first = (x > z) != smaller;
    return machine_node(m, first ? x : z, 0, a, first, 0, b, 1 - first, 0);
}

typedef struct slope {
    double y, d;
} slope;

static slope sigmoid_of(double x)
{
    const double s = 1 / (1 + exp(-x));
    return (slope){s, s * (1 - s)};
}

static slope gelu_of(double x)
{
    const double cdf = 0.5 * erfc(-x * M_SQRT1_2);
    return (slope){x * cdf, cdf + x * exp(-x * x / 2) / sqrt(2 * M_PI)};
}

static slope gelu_tanh_of(double x)
{
    const double k = sqrt(2 / M_PI), t = tanh(k * (x + 0.044715 * x * x * x));
    return (slope){0.5 * x * (1 + t),
                   0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x)};
}

static slope silu_of(double x)
{
    const slope s = sigmoid_of(x);
    return (slope){x * s.y, s.y + x * s.d};
}

// Smooth functions; NaN for others.
static slope smooth(op_code op, double x, double number)
{
    const double root = sqrt(x);
    switch ((int)op) {
    case OP_neg:
        return (slope){-x, -1};
    case OP_sqrt:
        return (slope){root, 0.5 / root};
    case OP_rsqrt:
        return (slope){1 / root, -0.5 / (x * root)};
    case OP_exp:
        return (slope){exp(x), exp(x)};
    case OP_log:
        return (slope){log(x), 1 / x};
    case OP_log1p:
        return (slope){log1p(x), 1 / (1 + x)};
    case OP_sin:
        return (slope){sin(x), cos(x)};
    case OP_cos:
        return (slope){cos(x), -sin(x)};
    case OP_tanh:
        return (slope){tanh(x), 1 - tanh(x) * tanh(x)};
    case OP_sigmoid:
        return sigmoid_of(x);
    case OP_gelu:
        return gelu_of(x);
    case OP_gelu_tanh:
        return gelu_tanh_of(x);
    case OP_silu:
        return silu_of(x);
    case OP_add_scalar:
    case OP_add_scalar_:
        return (slope){x + number, 1};
    case OP_sub_scalar:
        return (slope){x - number, 1};
    case OP_mul_scalar:
    case OP_mul_scalar_:
        return (slope){x * number, number};
    case OP_div_scalar:
        return (slope){x / number, 1 / number};
    case OP_pow_scalar:
        return (slope){pow(x, number), number * pow(x, number - 1)};
    case OP_softplus: // beta is 2, the threshold is out of reach
        return (slope){log1p(exp(2 * x)) / 2, sigmoid_of(2 * x).y};
    }
    return (slope){NAN, NAN};
}

// Functions with a kink, at -1 and 1 for clamp, else at 0.
static slope kinked(op_code op, double x, double number)
{
    switch ((int)op) {
    case OP_abs:
        return (slope){fabs(x), (x > 0) - (x < 0)};
    case OP_relu:
        return (slope){x > 0 ? x : 0, x > 0};
    case OP_leaky_relu:
        return x > 0 ? (slope){x, 1} : (slope){number * x, number};
    default:
        return (slope){fmin(fmax(x, -1), 1), x > -1 && x < 1};
    }
}

int scalar_unary(machine *m, op_code op, int a, double number)
{
    const double x = machine_value(m, a), error = error_of(m, a);
    const bool has_kink = op == OP_abs || op == OP_relu || op == OP_leaky_relu || op == OP_clamp;
    const slope s = has_kink ? kinked(op, x, number) : smooth(op, x, number);
    if (has_kink)
        decide(m, op == OP_clamp ? fabs(x) - 1 : x, error);
    // The second derivative of all of them is below 4 max(1, |slope|)^3.
    const double steep = fmax(1, fabs(s.d)), bend = has_kink ? 0 : 4 * steep * steep * steep;
    const double size = has_kink ? fabs(s.y) : 4 * fmax(fabs(s.y), fabs(x));
    m->refused |= !isfinite(s.y) || !isfinite(s.d);
    return machine_node(m, s.y, size + bend * error * error * UNIT, a, s.d,
                        bend * error + 4 * fabs(s.d) + (has_kink ? 0 : 2), -1, 0, 0);
}

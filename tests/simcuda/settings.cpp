// SPDX-License-Identifier: Apache-2.0
// The environment, and the orders that it chooses.
#include "core.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>

namespace sim
{

static long number(const char *name, long fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, nullptr, 0) : fallback;
}

static bool is(const char *name, const char *value)
{
    const char *text = getenv(name);
    return text && !strcmp(text, value);
}

static std::vector<std::string> words(const char *text)
{
    std::vector<std::string> found(1);
    for (; *text; text++) {
        if (*text == ',')
            found.emplace_back();
        else if (*text != ' ')
            found.back() += *text;
    }
    return found;
}

// As the driver reads it: the list ends at the first word that names no device.
static std::vector<int> visible_devices()
{
    int there = (int)std::clamp(number("TERN_SIM_DEVICES", 4), 0l, (long)max_devices);
    std::vector<int> devices;
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list) {
        devices.resize((size_t)there);
        std::iota(devices.begin(), devices.end(), 0);
        return devices;
    }
    for (const std::string &word : words(list)) {
        char *end;
        long device = strtol(word.c_str(), &end, 10);
        if (word.empty() || *end || device < 0 || device >= there)
            break;
        if (std::count(devices.begin(), devices.end(), (int)device))
            return {}; // twice the same: none
        devices.push_back((int)device);
    }
    return devices;
}

static std::vector<size_t> memory_sizes()
{
    const char *list = getenv("TERN_SIM_MEMORY");
    std::vector<size_t> sizes;
    for (const std::string &word : words(list && *list ? list : "8G")) {
        char *unit;
        size_t size = strtoull(word.c_str(), &unit, 10);
        const char *units = "KMG", *found = *unit ? strchr(units, *unit) : nullptr;
        sizes.push_back(found ? size << (10 * (found - units + 1)) : size);
    }
    return sizes;
}

static Settings read_settings()
{
    Settings read = {};
    read.visible = visible_devices();
    read.memory = memory_sizes();
    read.order = is("TERN_SIM_ORDER", "reverse")  ? Order::reverse
                 : is("TERN_SIM_ORDER", "random") ? Order::random
                                                  : Order::forward;
    read.seed = (unsigned)number("TERN_SIM_SEED", 1);
    read.lazy = is("TERN_SIM_STREAMS", "lazy");
    read.guard = number("TERN_SIM_GUARD", 0);
    read.interblock = number("TERN_SIM_INTERBLOCK", 0);
    read.poison = number("TERN_SIM_POISON", 1);
    read.leaks = number("TERN_SIM_LEAKS", 0);
    read.stats = number("TERN_SIM_STATS", 0);
    return read;
}

const Settings &settings()
{
    static const Settings &read = *new Settings(read_settings());
    return read;
}

int device_count()
{
    return (int)settings().visible.size();
}

unsigned random_number()
{
    static uint64_t state = 0x9E3779B97F4A7C15ull * (settings().seed + 1ull);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 32);
}

Walk walk_over(uint64_t count)
{
    if (count < 2 || settings().order == Order::forward)
        return {0, 1};
    if (settings().order == Order::reverse)
        return {count - 1, count - 1};
    uint64_t step;
    do
        step = random_number() % count;
    while (std::gcd(step, count) != 1);
    return {random_number() % count, step};
}

} // namespace sim

// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a run takes of its machine: memory, processors, energy; and what machine that is.
///
///     tern_resources now = {0};
///     ...                                          // in the loop, now and then:
///     if (tern_resources_read(&now))
///         return tern_error_print(stderr);
///     if (now.cpu_share.known)
///         printf("%.0f %% of the CPUs\n", 100 * now.cpu_share.value);
///
/// A figure that the machine does not tell is not known, and never 0. A reading takes some tens of
/// microseconds, more where CUDA devices or energy counters are read, and waits for no device. The
/// structs are the caller's; nothing is kept elsewhere, and no memory is taken. Reading fails for
/// NULL alone. Threads: any; one struct is used by one at a time.
#ifndef TERN_RESOURCES_H
#define TERN_RESOURCES_H

#include <tern/device.h>
#include <tern/error.h>

TERN_BEGIN_DECLS

/// A figure.
typedef struct tern_reading {
    double value; ///< 0 where it is not known
    bool known;   ///< whether the machine tells it
} tern_reading;

/// Memory of one device, in bytes.
typedef struct tern_device_memory {
    tern_device device;     ///< cpu:0 stands for all of the host's memory
    tern_reading allocated; ///< that tern holds: tensors, on the host also everything else
    tern_reading cached;    ///< that it keeps for reuse
    tern_reading free;      ///< of a CUDA device, for all processes
    tern_reading total;     ///< of a CUDA device
} tern_device_memory;

/// Energy counters and devices that are read, at most.
#define TERN_RESOURCES_DEVICES 16

/// What the next reading counts from; not for programs.
typedef struct tern_resources_last {
    int64_t clock;                               ///< nanoseconds; 0: there was no reading
    double cpu_seconds;                          ///< of the process
    int counters;                                ///< of energy
    int64_t microjoules[TERN_RESOURCES_DEVICES]; ///< that they showed
} tern_resources_last;

/// What a process takes. Zero it before the first reading.
typedef struct tern_resources {
    tern_reading seconds;        ///< since the last reading; not known of the first
    tern_reading resident_bytes; ///< memory of the process that is in RAM
    tern_reading peak_bytes;     ///< the most of it so far
    tern_reading cpu_seconds;    ///< of all threads of the process, since it began
    tern_reading cpu_share;      ///< since the last reading, of the CPUs that the process may use:
                                 ///< 0 to 1; not known of the first
    tern_reading joules; ///< of the processors, since the first reading that found a counter
    tern_reading watts;  ///< likewise, on average since the last reading
    int device_count;    ///< of the next
    tern_device_memory devices[TERN_RESOURCES_DEVICES]; ///< the host, then open CUDA devices
    tern_resources_last last_;                          ///< not for programs
} tern_resources;

/// Reads what there is now. Resident memory and its peak are those of /proc; energy is that of the
/// packages under /sys/class/powercap, which is everybody's on the machine and which many machines
/// let only root read: the counters wrap within minutes to hours, and have to be read more often.
/// Energy of CUDA devices is not read. A device that nothing used is not opened.
TERN_API TERN_NODISCARD tern_status tern_resources_read(tern_resources *resources);

/// What a machine is, for the first line of a log. Texts are "" and numbers 0 where the machine
/// does not tell them.
typedef struct tern_machine {
    char cpu[96];         ///< "AMD EPYC 7R13 Processor"
    int cpus;             ///< logical ones of the machine
    int available_cpus;   ///< that the process may run on, no more than its quota is worth
    int threads;          ///< of tern's kernels (tern_num_threads)
    int64_t memory_bytes; ///< of the machine
    char isa[16];         ///< of tern's kernels: "portable", "avx2", "avx512"
    char devices[256];    ///< "cpu, cuda:0 (NVIDIA H100 80GB HBM3)": those in use
    char host[96];        ///< the name of the machine
    char os[128];         ///< "Debian GNU/Linux 12 (bookworm)"
    char kernel[96];      ///< "Linux 6.1.0 x86_64"
    char version[16];     ///< tern_version()
} tern_machine;

/// Fills `*machine`; opens no device.
TERN_API TERN_NODISCARD tern_status tern_machine_read(tern_machine *machine);

TERN_END_DECLS

#endif

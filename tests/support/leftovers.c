// SPDX-License-Identifier: Apache-2.0
// Linked into every test program: when it ends, its open files, threads and mapped temporary files
// must be those from its start, or it fails. Children made by fork are left alone, and processes in
// which NVIDIA's driver is loaded: it keeps files and threads of its own until they end.
#include <dirent.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <tern/memory.h>

#define MOST_FILES 1024

// What a process holds. The numbers of its open files are in order of the directory.
typedef struct holdings {
    int files[MOST_FILES];
    int file_count;
    int threads;
    int temporary_mappings;
} holdings;

static holdings at_start;
static pid_t process;

static bool holds_file(const holdings *h, int file)
{
    for (int i = 0; i < h->file_count; i++)
        if (h->files[i] == file)
            return true;
    return false;
}

static void list_files(holdings *h)
{
    DIR *list = opendir("/proc/self/fd");
    h->file_count = 0;
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(list) &&
            h->file_count < MOST_FILES)
            h->files[h->file_count++] = atoi(entry->d_name);
    if (list)
        closedir(list);
}

static int count_threads(void)
{
    int count = 0;
    DIR *list = opendir("/proc/self/task");
    for (struct dirent *entry; list && (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    if (list)
        closedir(list);
    return count;
}

// Libraries and locales stay mapped by the C library; ThreadSanitizer maps and drops its own file.
static bool is_temporary(const char *mapping)
{
    const char *path = strchr(mapping, '/'), *directory = getenv("TMPDIR");
    if (!path || strstr(path, ".so") || strstr(path, "/LC_") || strstr(path, "/tsan."))
        return false;
    return strstr(path, " (deleted)") || strncmp(path, "/tmp/", 5) == 0 ||
           strncmp(path, "/dev/shm/", 9) == 0 ||
           (directory && strncmp(path, directory, strlen(directory)) == 0);
}

static int count_temporary_mappings(void)
{
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && fgets(line, sizeof line, maps))
        count += is_temporary(line);
    if (maps)
        fclose(maps);
    return count;
}

static void look(holdings *h)
{
    list_files(h);
    h->threads = count_threads();
    h->temporary_mappings = count_temporary_mappings();
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
static void *tell_number(void *number)
{
    *(long *)number = syscall(SYS_gettid);
    return NULL;
}

// The first thread makes the sanitizer start one of its own, which stays. Once joined, the first
// may be listed for a moment longer, above all under a debugger.
static void start_threads_of_the_sanitizer(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    pthread_t thread;
    long number = 0;
    char entry[64];
    if (pthread_create(&thread, NULL, tell_number, &number) != 0)
        return;
    pthread_join(thread, NULL);
    snprintf(entry, sizeof entry, "/proc/self/task/%ld", number);
    for (int i = 0; i < 2000 && access(entry, F_OK) == 0; i++)
        nanosleep(&pause, NULL);
}
#else
static void start_threads_of_the_sanitizer(void)
{
}
#endif

__attribute__((constructor)) static void remember_the_start(void)
{
    process = getpid();
    start_threads_of_the_sanitizer();
    look(&at_start);
}

// A thread that was joined may be listed for a moment longer.
static void wait_for_ended_threads(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 2000 && count_threads() > at_start.threads; i++)
        nanosleep(&pause, NULL);
}

static int report_files(const holdings *at_end)
{
    int found = 0;
    for (int i = 0; i < at_end->file_count; i++) {
        char link[64], target[256] = "";
        if (holds_file(&at_start, at_end->files[i]))
            continue;
        snprintf(link, sizeof link, "/proc/self/fd/%d", at_end->files[i]);
        ssize_t length = readlink(link, target, sizeof target - 1);
        fprintf(stderr, "left open: file %d, %.*s\n", at_end->files[i], (int)length, target);
        found++;
    }
    for (int i = 0; i < at_start.file_count; i++)
        if (!holds_file(at_end, at_start.files[i]))
            found += fprintf(stderr, "closed: file %d\n", at_start.files[i]) > 0;
    return found;
}

static int report_count(const char *what, int before, int after)
{
    if (before == after)
        return 0;
    fprintf(stderr, "%s: %d at the start, %d at the end\n", what, before, after);
    return 1;
}

static int is_driver(struct dl_phdr_info *library, size_t size, void *user)
{
    (void)size;
    (void)user;
    return library->dlpi_name && strstr(library->dlpi_name, "/libcuda.so") != NULL;
}

// Without asking the loader to look for it.
static bool has_driver(void)
{
    return dl_iterate_phdr(is_driver, NULL) != 0;
}

__attribute__((destructor)) static void compare_with_the_start(void)
{
    holdings at_end;
    if (getpid() != process)
        return;
    tern_shutdown();
    if (has_driver())
        return;
    wait_for_ended_threads();
    look(&at_end);
    fflush(NULL);
    int found = report_files(&at_end);
    found += report_count("threads", at_start.threads, at_end.threads);
    found += report_count("mappings of temporary files", at_start.temporary_mappings,
                          at_end.temporary_mappings);
    if (found)
        _exit(1);
}

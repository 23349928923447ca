// SPDX-License-Identifier: Apache-2.0
// Opens a driver and the library, changes the working directory, and prints why there is no CUDA
// device; "privileged: " before it in a setuid program. Arguments: DRIVER LIBRARY DIRECTORY.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    void *library = NULL;
    if (argc != 4 || !dlopen(argv[1], RTLD_NOW) || !(library = dlopen(argv[2], RTLD_NOW)) ||
        chdir(argv[3]) != 0)
        return fprintf(stderr, "%s\n", argc == 4 ? dlerror() : "three arguments") > 0;
    void *symbol = dlsym(library, "tern_cuda_reason");
    const char *(*reason)(void);
    memcpy(&reason, &symbol, sizeof reason);
    if (!symbol)
        return 1;
    printf("%s%s\n", getauxval(AT_SECURE) ? "privileged: " : "", reason());
    return 0;
}

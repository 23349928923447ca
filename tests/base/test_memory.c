// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <pthread.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/poison.h"
#include "support/child.h"

// An allocator that counts, and fails when told to.
static struct {
    int64_t bytes;
    int calls;
    int failures_due;
    size_t last_align;
    size_t last_nbytes;
} counted;

static void *counted_alloc(size_t nbytes, size_t align, void *user)
{
    assert_ptr_equal(user, &counted);
    if (counted.failures_due > 0) {
        counted.failures_due--;
        errno = ENOMEM;
        return NULL;
    }
    void *memory = NULL;
    if (posix_memalign(&memory, align, nbytes) != 0)
        return NULL;
    memset(memory, 0xA5, nbytes);
    counted.bytes += (int64_t)nbytes;
    counted.calls++;
    counted.last_align = align;
    counted.last_nbytes = nbytes;
    return memory;
}

static void counted_free(void *memory, size_t nbytes, void *user)
{
    assert_ptr_equal(user, &counted);
    counted.bytes -= (int64_t)nbytes;
    free(memory);
}

static const tern_allocator counting = {counted_alloc, counted_free, &counted};

static int with_counting_allocator(void **state)
{
    (void)state;
    tern_error_clear();
    memset(&counted, 0, sizeof counted);
    return tern_set_allocator(&counting);
}

// Nothing may be left when a test is over.
static int all_given_back(void **state)
{
    (void)state;
    tern_memory_trim();
    if (tern_memory_live_bytes() != 0 || counted.bytes != 0)
        return 1;
    return tern_set_allocator(NULL);
}

static void plain_memory_is_zeroed_and_counted(void **state)
{
    (void)state;
    unsigned char *memory = tern_mem_alloc(1000);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 64, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(memory[i], 0);
    assert_int_equal(tern_memory_live_bytes(), 1000);
    assert_int_equal(counted.bytes, 1000);
    tern_mem_free(memory, 1000);
    tern_mem_free(NULL, 5);
    assert_int_equal(counted.bytes, 0);
}

static void a_failure_names_the_bytes_and_keeps_errno(void **state)
{
    (void)state;
    errno = 7;
    counted.failures_due = 1;
    assert_null(tern_mem_alloc(12345));
    assert_int_equal(errno, 7);
    assert_int_equal(tern_error_code(), TERN_ERR_NOMEM);
    assert_non_null(strstr(tern_error_message(), "12345 bytes"));
    tern_error_clear();
    counted.failures_due = 1;
    assert_null(tern_cache_alloc(777));
    assert_non_null(strstr(tern_error_message(), "777 bytes"));
    tern_error_clear();
    assert_null(tern_mem_alloc(SIZE_MAX));
    tern_error_clear();
    assert_null(tern_cache_alloc(SIZE_MAX - 3));
    assert_int_equal(tern_error_code(), TERN_ERR_NOMEM);
    assert_int_equal(tern_memory_live_bytes(), 0);
}

static void a_freed_block_serves_the_next_request_of_its_class(void **state)
{
    (void)state;
    void *first = tern_cache_alloc(1000);
    assert_non_null(first);
    int64_t live = tern_memory_live_bytes();
    assert_in_range(live, 1000, 1250);
    tern_cache_free(first, 1000);
    assert_int_equal(tern_memory_live_bytes(), 0);
    assert_int_equal(tern_memory_cached_bytes(), live);
    void *second = tern_cache_alloc(1020);
    assert_ptr_equal(second, first);
    assert_int_equal(counted.calls, 1);
    assert_int_equal(tern_memory_cached_bytes(), 0);
    void *other = tern_cache_alloc(3000);
    assert_int_equal(counted.calls, 2);
    tern_cache_free(second, 1020);
    tern_cache_free(other, 3000);
    tern_memory_trim();
    assert_int_equal(tern_memory_cached_bytes(), 0);
    assert_int_equal(counted.bytes, 0);
}

static int refuse_a_cached_size(void)
{
    return !tern_cache_alloc(1000) && tern_error_code() == TERN_ERR_STATE ? 0 : 1;
}

// What its parent's threads kept is not the child's to hand out.
static void a_forked_child_gets_nothing_of_the_cache(void **state)
{
    (void)state;
    tern_cache_free(tern_cache_alloc(1000), 1000);
    assert_true(tern_memory_cached_bytes() > 0);
    assert_int_equal(status_of_child(refuse_a_cached_size), 0);
    tern_memory_trim();
}

// Writes every byte that was asked for; under ASan the allocator checks that they are there.
static void classes_hold_what_was_asked_and_waste_little(void **state)
{
    (void)state;
    for (size_t nbytes = 1; nbytes < 9000000; nbytes += 1 + nbytes / 3) {
        for (size_t near = nbytes; near < nbytes + 2; near++) {
            char *memory = tern_cache_alloc(near);
            assert_non_null(memory);
            memset(memory, 1, near);
            assert_int_equal((uintptr_t)memory % (near >= 65536 ? 4096 : 64), 0);
            int64_t held = tern_memory_live_bytes();
            assert_true(held >= (int64_t)near);
            assert_true(held <= 64 || held <= 256 ? held < (int64_t)near + 64
                                                  : held <= (int64_t)near + (int64_t)near / 4);
            tern_cache_free(memory, near);
            assert_int_equal(tern_memory_live_bytes(), 0);
        }
    }
    tern_memory_trim(); // gives back the sizes that were taken: counted.bytes is checked at the end
}

static void powers_of_two_waste_nothing(void **state)
{
    (void)state;
    for (size_t nbytes = 64; nbytes <= 1 << 20; nbytes *= 2) {
        void *memory = tern_cache_alloc(nbytes);
        assert_int_equal(tern_memory_live_bytes(), nbytes);
        tern_cache_free(memory, nbytes);
    }
}

// The C library's allocator gives large blocks in another way.
static void large_blocks_of_the_c_library_can_be_used(void **state)
{
    (void)state;
    assert_int_equal(tern_set_allocator(NULL), TERN_OK);
    size_t nbytes = (5u << 20) + 123;
    char *memory = tern_cache_alloc(nbytes);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 4096, 0);
    memset(memory, 7, nbytes);
    tern_cache_free(memory, nbytes);
    unsigned char *zeroed = tern_mem_alloc(nbytes);
    assert_non_null(zeroed);
    assert_int_equal(zeroed[0] | zeroed[nbytes - 1], 0);
    tern_mem_free(zeroed, nbytes);
}

static void empty_requests_get_blocks_of_their_own(void **state)
{
    (void)state;
    void *a = tern_cache_alloc(0);
    void *b = tern_cache_alloc(0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    tern_cache_free(a, 0);
    tern_cache_free(b, 0);
    tern_cache_free(NULL, 0);
}

static void memory_in_caches_is_used_before_a_request_fails(void **state)
{
    (void)state;
    tern_cache_free(tern_cache_alloc(5000), 5000);
    assert_true(counted.bytes > 0);
    counted.failures_due = 1;
    void *memory = tern_mem_alloc(100);
    assert_non_null(memory);
    assert_false(tern_error_pending());
    assert_int_equal(counted.bytes, 100);
    tern_mem_free(memory, 100);
}

static void the_allocator_stays_while_its_memory_is_in_use(void **state)
{
    (void)state;
    void *memory = tern_cache_alloc(64);
    assert_int_equal(tern_set_allocator(NULL), TERN_ERR_STATE);
    assert_non_null(strstr(tern_error_message(), "64 bytes"));
    tern_error_clear();
    tern_cache_free(memory, 64);
    assert_int_equal(tern_set_allocator(NULL), TERN_OK); // the cache goes by itself
    assert_int_equal(counted.bytes, 0);
    assert_int_equal(tern_set_allocator(&(tern_allocator){0}), TERN_ERR_NULL);
}

static void a_growing_array_keeps_what_is_in_it(void **state)
{
    (void)state;
    int64_t capacity = 0;
    void *array = NULL;
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(tern_mem_grow(&array, &capacity, i + 1, sizeof(int64_t)), TERN_OK);
        assert_true(capacity > i);
        ((int64_t *)array)[i] = i * i;
    }
    assert_in_range(counted.calls, 2, 12); // doubling
    for (int64_t i = 0; i < 1000; i++)
        assert_int_equal(((int64_t *)array)[i], i * i);
    void *before = array;
    int64_t held = capacity;
    counted.failures_due = 1;
    assert_int_equal(tern_mem_grow(&array, &capacity, held + 1, sizeof(int64_t)), TERN_ERR_NOMEM);
    tern_error_clear();
    assert_int_equal(tern_mem_grow(&array, &capacity, INT64_MAX, sizeof(int64_t)), TERN_ERR_NOMEM);
    tern_error_clear();
    assert_int_equal(tern_mem_grow(&array, &capacity, INT64_MAX / 8, 64), TERN_ERR_NOMEM);
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, held);
    assert_int_equal(((int64_t *)array)[999], 999 * 999);
    tern_mem_free(array, (size_t)capacity * sizeof(int64_t));
}

static void strings_are_copied(void **state)
{
    (void)state;
    char text[] = "weight";
    char *copy = tern_mem_string(text);
    text[0] = 'W';
    assert_string_equal(copy, "weight");
    assert_int_equal(tern_memory_live_bytes(), 7);
    tern_mem_free_string(copy);
    tern_mem_free_string(NULL);
    assert_null(tern_mem_string(NULL));
    assert_int_equal(tern_error_code(), TERN_ERR_NULL);
}

// Each thread fills its blocks with its own letter and looks whether they are still its own.
static void *churn(void *letter)
{
    unsigned char *blocks[16] = {0};
    size_t sizes[16] = {0};
    unsigned word = *(unsigned char *)letter;
    for (int i = 0; i < 5000; i++) {
        word = word * 1664525u + 1013904223u;
        int slot = (int)(word >> 28);
        for (size_t k = 0; k < sizes[slot]; k += 17)
            if (blocks[slot][k] != *(unsigned char *)letter)
                return NULL;
        tern_cache_free(blocks[slot], sizes[slot]);
        sizes[slot] = (word >> 8) % 2000;
        blocks[slot] = tern_cache_alloc(sizes[slot]);
        if (!blocks[slot])
            return NULL;
        memset(blocks[slot], *(unsigned char *)letter, sizes[slot]);
        if (i % 1000 == 999)
            tern_memory_trim();
    }
    for (int slot = 0; slot < 16; slot++)
        tern_cache_free(blocks[slot], sizes[slot]);
    return letter;
}

static void threads_do_not_share_blocks(void **state)
{
    (void)state;
    assert_int_equal(tern_set_allocator(NULL), TERN_OK); // the counting one is for one thread
    unsigned char letters[3] = {'a', 'b', 'c'};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &letters[i]), 0);
    for (int i = 0; i < 3; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, &letters[i]);
    }
    assert_int_equal(tern_memory_live_bytes(), 0);
}

static void a_block_in_the_cache_must_not_be_touched(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    char *memory = tern_cache_alloc(100);
    assert_false(__asan_address_is_poisoned(memory + 99));
    assert_true(__asan_address_is_poisoned(memory + 100));
    tern_cache_free(memory, 100);
    assert_true(__asan_address_is_poisoned(memory + sizeof(void *)));
    assert_true(__asan_address_is_poisoned(memory + 99));
    char *again = tern_cache_alloc(128);
    assert_ptr_equal(again, memory);
    assert_false(__asan_address_is_poisoned(again + 127));
    tern_cache_free(again, 128);
#else
    print_message("only AddressSanitizer can see this\n");
    skip();
#endif
}

// Runs in a process of its own, with TERN_CACHE=0.
static void without_the_cache_every_block_goes_back_at_once(void **state)
{
    (void)state;
    void *memory = tern_cache_alloc(1001);
    void *empty = tern_cache_alloc(0);
    assert_non_null(memory);
    assert_non_null(empty);
    assert_int_equal(counted.bytes, 1001 + 64);
    tern_cache_free(memory, 1001);
    tern_cache_free(empty, 0);
    assert_int_equal(counted.bytes, 0);
    assert_int_equal(tern_memory_cached_bytes(), 0);
}

static int run_uncached(void)
{
    setenv("TERN_CACHE", "0", 1);
    execl("/proc/self/exe", "test_memory", "uncached", (char *)NULL);
    return 99;
}

static void the_environment_turns_the_cache_off(void **state)
{
    (void)state;
    assert_int_equal(status_of_child(run_uncached), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_counting_allocator, all_given_back)

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "uncached") == 0) {
        const struct CMUnitTest uncached[] = {
            TEST(without_the_cache_every_block_goes_back_at_once),
        };
        return cmocka_run_group_tests_name("uncached memory", uncached, NULL, NULL);
    }
    setenv("TERN_CACHE", "1", 1); // the other tests are about the cache
    const struct CMUnitTest tests[] = {
        TEST(plain_memory_is_zeroed_and_counted),
        TEST(a_failure_names_the_bytes_and_keeps_errno),
        TEST(a_freed_block_serves_the_next_request_of_its_class),
        TEST(a_forked_child_gets_nothing_of_the_cache),
        TEST(classes_hold_what_was_asked_and_waste_little),
        TEST(powers_of_two_waste_nothing),
        TEST(large_blocks_of_the_c_library_can_be_used),
        TEST(empty_requests_get_blocks_of_their_own),
        TEST(memory_in_caches_is_used_before_a_request_fails),
        TEST(the_allocator_stays_while_its_memory_is_in_use),
        TEST(a_growing_array_keeps_what_is_in_it),
        TEST(strings_are_copied),
        TEST(threads_do_not_share_blocks),
        TEST(a_block_in_the_cache_must_not_be_touched),
        TEST(the_environment_turns_the_cache_off),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}

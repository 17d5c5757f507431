#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wakeup.h"
#include "base/worker.h"
#include "tests/suite.h"

enum { DEADLINE_MS = 10000 };

static bool is_readable(const struct mailbox *m)
{
    struct pollfd p = {.fd = mailbox_fd(m), .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static int *number(int n)
{
    int *item = mem_alloc(sizeof *item);
    *item = n;
    return item;
}

static void assert_pops(struct mailbox *m, int expected)
{
    auto_free int *item = mailbox_pop(m);
    assert_non_null(item);
    assert_int_equal(*item, expected);
}

TEST(items_come_out_in_order)
{
    struct mailbox *m = mailbox_new(free);
    assert_null(mailbox_pop(m));
    int in = 0, out = 0;
    /* Uneven steps, so that the ring grows while it is wrapped around. */
    for (int round = 1; round < 60; round++) {
        for (int i = 0; i < round; i++)
            mailbox_push(m, number(in++));
        for (int i = 0; i < round / 2; i++)
            assert_pops(m, out++);
    }
    while (out < in)
        assert_pops(m, out++);
    assert_null(mailbox_pop(m));
    mailbox_free(m);
}

TEST(the_descriptor_tells_of_items)
{
    struct mailbox *m = mailbox_new(free);
    assert_false(is_readable(m));
    mailbox_push(m, number(1));
    mailbox_push(m, number(2));
    assert_true(is_readable(m));
    assert_pops(m, 1);
    assert_true(is_readable(m));
    assert_pops(m, 2);
    assert_false(is_readable(m));
    mailbox_push(m, number(3));
    assert_true(is_readable(m));
    mailbox_free(m);
}

TEST(the_descriptor_stays_here)
{
    struct mailbox *m = mailbox_new(NULL);
    assert_true(fcntl(mailbox_fd(m), F_GETFD) & FD_CLOEXEC);
    assert_true(fcntl(mailbox_fd(m), F_GETFL) & O_NONBLOCK);
    mailbox_free(m);
    mailbox_free(NULL);
}

static int freed;

static void count_free(void *item)
{
    freed++;
    free(item);
}

TEST(what_is_left_is_freed)
{
    struct mailbox *m = mailbox_new(count_free);
    for (int i = 0; i < 40; i++)
        mailbox_push(m, number(i));
    assert_pops(m, 0);
    mailbox_free(m);
    assert_int_equal(freed, 39);
}

TEST(waiting_ends_in_time)
{
    struct mailbox *m = mailbox_new(free);
    int64_t start = clock_mono_ms();
    assert_null(mailbox_wait(m, 0));
    assert_null(mailbox_wait(m, 30));
    assert_true(clock_mono_ms() - start >= 29);
    mailbox_push(m, number(1));
    auto_free int *item = mailbox_wait(m, -1);
    assert_int_equal(*item, 1);
    mailbox_free(m);
}

enum { ITEMS = 20000, WRITERS = 2 };

struct writer {
    struct mailbox *to;
    int id;
};

static void *write_items(void *context)
{
    struct writer *w = context;
    for (int i = 0; i < ITEMS; i++)
        mailbox_push(w->to, number(i * WRITERS + w->id));
    return NULL;
}

/* No item is lost, doubled or reordered, for any timing of the threads. */
TEST(threads_pass_everything_on)
{
    struct mailbox *m = mailbox_new(free);
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    int next[WRITERS] = {0};
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.to = m, .id = i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_items, &writers[i]), 0);
    }
    for (int i = 0; i < ITEMS * WRITERS; i++) {
        auto_free int *item = mailbox_wait(m, DEADLINE_MS);
        assert_non_null(item);
        assert_int_equal(*item / WRITERS, next[*item % WRITERS]++);
    }
    assert_null(mailbox_pop(m));
    assert_false(is_readable(m));
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    mailbox_free(m);
}

static struct mailbox *echo_in, *echo_out;

static void *echo(void *context)
{
    (void)context;
    for (int *item; *(item = mailbox_wait(echo_in, -1)) >= 0;)
        mailbox_push(echo_out, item);
    return NULL;
}

/* One item at a time: each push finds an empty queue and must wake the other side. */
TEST(every_first_item_wakes)
{
    echo_in = mailbox_new(free);
    echo_out = mailbox_new(free);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, echo, NULL), 0);
    for (int i = 0; i < 2000; i++) {
        mailbox_push(echo_in, number(i));
        auto_free int *item = mailbox_wait(echo_out, DEADLINE_MS);
        assert_non_null(item);
        assert_int_equal(*item, i);
    }
    static int stop = -1;
    mailbox_push(echo_in, &stop);
    pthread_join(thread, NULL);
    mailbox_free(echo_in);
    mailbox_free(echo_out);
}

struct waker {
    int reader, calls, allowed;
};

static bool drain(void *context)
{
    struct waker *w = context;
    char byte;
    assert_int_equal(read(w->reader, &byte, 1), 1);
    return ++w->calls <= w->allowed;
}

TEST(a_sleep_ends_when_told_to_stop)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct waker context = {.reader = ends[0], .allowed = 2};
    struct wakeup w = {.fd = ends[0], .go_on = drain, .context = &context};
    assert_int_equal(write(ends[1], "abc", 3), 3);
    assert_false(wakeup_sleep(&w, -1));
    assert_int_equal(context.calls, 3);
    close(ends[0]);
    close(ends[1]);
}

TEST(a_sleep_goes_on_after_a_false_alarm)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct waker context = {.reader = ends[0], .allowed = 9};
    struct wakeup w = {.fd = ends[0], .go_on = drain, .context = &context};
    assert_int_equal(write(ends[1], "a", 1), 1);
    int64_t start = clock_mono_ms();
    assert_true(wakeup_sleep(&w, 40));
    assert_true(clock_mono_ms() - start >= 39);
    assert_int_equal(context.calls, 1);
    close(ends[1]); /* hung up: ready for ever, yet the sleep is a sleep */
    start = clock_mono_ms();
    assert_true(wakeup_sleep(&w, 20));
    assert_true(clock_mono_ms() - start >= 19);
    close(ends[0]);
    assert_true(wakeup_sleep(&(struct wakeup){.fd = -1}, 1));
    assert_true(wakeup_sleep(NULL, 1));
}

static bool count_and_stop(void *context)
{
    struct waker *w = context;
    return ++w->calls <= w->allowed;
}

TEST(a_sleep_asks_at_its_deadline)
{
    struct waker context = {.allowed = 0};
    struct wakeup w = {.fd = -1, .go_on = count_and_stop, .context = &context};
    assert_int_equal(wakeup_timeout(NULL, 7), 7);
    assert_int_equal(wakeup_timeout(&w, -1), -1);
    assert_false(wakeup_late(NULL));
    assert_false(wakeup_late(&w));
    w.deadline_ms = clock_mono_ms() + 40;
    assert_in_range(wakeup_timeout(&w, -1), 0, 40);
    assert_int_equal(wakeup_timeout(&w, 0), 0);
    assert_true(wakeup_sleep(&w, 0)); /* not yet */
    assert_int_equal(context.calls, 0);
    assert_false(wakeup_sleep(&w, -1));
    assert_true(clock_mono_ms() >= w.deadline_ms);
    assert_int_equal(context.calls, 1);
    assert_true(wakeup_late(&w));
    assert_int_equal(wakeup_timeout(&w, 1000), 0);
    assert_false(wakeup_sleep(&w, 0));
    w.deadline_ms = clock_mono_ms() + 60000;
    assert_true(wakeup_sleep(&w, 1)); /* a sleep that ends before it */
    assert_int_equal(context.calls, 2);
}

TEST(a_reader_that_dozes_is_woken_for_what_cannot_wait)
{
    static int items[4];
    struct mailbox *m = mailbox_new(NULL);
    mailbox_put(m, &items[0], true);
    assert_true(is_readable(m)); /* nobody dozes yet */
    assert_ptr_equal(mailbox_pop(m), &items[0]);

    mailbox_doze(m, true);
    mailbox_put(m, &items[1], true);
    assert_false(is_readable(m));
    mailbox_push(m, &items[2]);
    assert_true(is_readable(m));
    assert_ptr_equal(mailbox_pop(m), &items[1]);
    assert_true(is_readable(m));
    assert_ptr_equal(mailbox_pop(m), &items[2]);
    assert_false(is_readable(m));

    mailbox_put(m, &items[3], true);
    assert_false(is_readable(m));
    mailbox_doze(m, false);
    assert_true(is_readable(m));
    assert_ptr_equal(mailbox_pop(m), &items[3]);
    mailbox_doze(m, false);
    assert_false(is_readable(m));
    mailbox_free(m);
}

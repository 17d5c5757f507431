/* Images of messages, beside the other files of their session. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/paths.h"
#include "chat/image.h"
#include "session/projection.h"
#include "tests/steps.h"
#include "tests/suite.h"

FIXTURE(support_setup, support_teardown);

static const char png[] = "\x89PNG\r\n\x1a\nand so on", jpeg[] = "\xff\xd8\xff and so on";

static bool add(const char *bytes, struct session_image *out, struct error *e)
{
    auto_free char *data = base64_encode((const unsigned char *)bytes, strlen(bytes));
    return image_file_add(support_path("sessions/x"), data, out, e);
}

static void release(struct session_image *image)
{
    free(image->path);
    free(image->media_type);
}

TEST(an_image_is_written_whole_for_its_owner_alone)
{
    struct session_image first, second;
    struct error e;
    struct stat st;
    assert_true(add(png, &first, &e));
    assert_string_equal(first.media_type, "image/png");
    assert_string_equal(support_read(first.path), png);
    assert_int_equal(stat(first.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_true(add(jpeg, &second, &e));
    assert_string_equal(second.media_type, "image/jpeg");
    assert_string_not_equal(first.path, second.path);
    release(&first);
    release(&second);
}

TEST(what_is_no_image_is_not_written)
{
    struct session_image image;
    struct error e;
    assert_err(add("#!/bin/sh", &image, &e), e, ERR_USAGE);
    assert_err(image_file_add(support_path("x"), "no base64", &image, &e), e, ERR_USAGE);
    assert_int_equal(access(support_path("x"), F_OK), -1);
}

TEST(they_go_and_other_files_stay)
{
    struct session_image image;
    struct error e;
    assert_true(add(png, &image, &e));
    support_write(support_path("sessions/x/transcript.md"), "x");
    int dir = open(support_path("sessions/x"), O_RDONLY | O_DIRECTORY);
    assert_true(image_file_remove_all(dir));
    close(dir);
    assert_int_equal(access(image.path, F_OK), -1);
    assert_int_equal(access(support_path("sessions/x/transcript.md"), F_OK), 0);
    release(&image);
}

TEST(their_names_are_known)
{
#define ID "01a205e5-55ab-7529-99a5-4879548ada27"
    static const struct {
        const char *name;
        bool whole, unfinished;
    } rows[] = {{"image-" ID ".png", true, false}, {"image-" ID ".png.tiro-aB3xYz", false, true},
                {"image-" ID, false, false},       {"image-.png", false, false},
                {"image-short.png", false, false}, {"transcript.md", false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(image_file_is(rows[i].name, false), rows[i].whole);
        assert_int_equal(image_file_is(rows[i].name, true), rows[i].unfinished);
    }
}

/* --- what the first bytes tell --- */

TEST(each_format_tells_its_size)
{
    static const struct {
        const char *seed, *size;
    } rows[] = {
        {"png", "1024\u00d7768 png 29 B"},           {"gif", "300\u00d7200 gif 13 B"},
        {"jpeg", "640\u00d7480 jpeg 46 B"},          {"webp-lossy", "550\u00d7368 webp 30 B"},
        {"webp-lossless", "400\u00d7300 webp 25 B"}, {"webp-extended", "1920\u00d71080 webp 30 B"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct image_facts facts;
        const char *path =
            support_text("%s/tests/fuzz/seeds/image/%s", getenv("SOURCE_DIR"), rows[i].seed);
        assert_true(image_file_facts(path, &facts));
        assert_string_equal(support_keep(image_size_text(&facts)), rows[i].size);
        facts.bytes = 214999;
        assert_says(support_keep(image_size_text(&facts)), " 214 kB");
        facts.bytes = 7340032;
        facts.width = facts.height = 0;
        assert_says(support_keep(image_size_text(&facts)), " 7.3 MB");
    }
    struct image_facts none;
    assert_false(image_file_facts(support_path("gone"), &none));
    assert_false(image_facts("#!/bin/sh", 9, &none));
}

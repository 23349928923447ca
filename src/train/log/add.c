// SPDX-License-Identifier: Apache-2.0
// What is logged: numbers, texts and settings.
#include <string.h>
#include "io/json.h"
#include "train/log/queue.h"
#include "train/log/ring.h"

tern_status tern_logger_add_scalar(tern_logger *logger, const char *tag, double value, int64_t step)
{
    static const char op[] = "logger_add_scalar";
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check_entry(op, logger, tag, TERN_ENTRY_SCALAR, step));
    const tern_log_entry entry = {.kind = TERN_ENTRY_SCALAR, .step = step, .value = value};
    return tern_logger_push(op, logger, entry, tag);
}

// ---- texts --------------------------------------------------------------------------------------

// With `size` bytes at its end; NULL, and TERN_OK, where the queue is full.
static tern_status make_payload(tern_logger *logger, size_t size, tern_log_payload **payload)
{
    *payload = NULL;
    if (tern_log_ring_is_full(logger, (int64_t)(sizeof **payload + size)))
        return TERN_OK;
    *payload = tern_log_payload_new(size);
    return *payload ? TERN_OK : TERN_ERR_NOMEM;
}

tern_status tern_logger_add_text(tern_logger *logger, const char *tag, const char *text,
                                 int64_t step)
{
    static const char op[] = "logger_add_text";
    tern_log_payload *payload;
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check_entry(op, logger, tag, TERN_ENTRY_TEXT, step));
    if (!text)
        return tern_null_error(op, "text");
    const size_t length = strlen(text);
    TERN_CHECK(tern_utf8_valid(text, length), TERN_ERR_ARG,
               "%s: the text of \"%.100s\" is not UTF-8", op, tag);
    TERN_TRY(make_payload(logger, length + 1, &payload));
    if (payload)
        memcpy(payload->bytes, text, length + 1);
    return tern_logger_push_payload(op, logger, TERN_ENTRY_TEXT, step, payload, tag);
}

// ---- settings -----------------------------------------------------------------------------------

static tern_status check_setting(const char *op, const tern_setting *setting)
{
    if (!setting->name)
        return tern_null_error(op, "name");
    TERN_TRY(tern_log_check_name(op, "name", setting->name));
    TERN_CHECK(setting->type >= TERN_SETTING_INT && setting->type <= TERN_SETTING_TEXT,
               TERN_ERR_ARG, "%s: \"%.100s\" has no type %d", op, setting->name,
               (int)setting->type);
    if (setting->type != TERN_SETTING_TEXT)
        return TERN_OK;
    if (!setting->text)
        return tern_null_error(op, "text");
    TERN_CHECK(tern_utf8_valid(setting->text, strlen(setting->text)), TERN_ERR_ARG,
               "%s: the text of \"%.100s\" is not UTF-8", op, setting->name);
    return TERN_OK;
}

static tern_status check_settings(const char *op, const tern_setting *settings, int64_t count)
{
    if (count > 0 && !settings)
        return tern_null_error(op, "settings");
    TERN_CHECK(count >= 0 && count <= 10000, TERN_ERR_ARG, "%s: count is %lld, not 0 to 10000", op,
               (long long)count);
    for (int64_t i = 0; i < count; i++) {
        TERN_TRY(check_setting(op, &settings[i]));
        for (int64_t k = 0; k < i; k++)
            TERN_CHECK(strcmp(settings[i].name, settings[k].name) != 0, TERN_ERR_ARG,
                       "%s: there are two settings \"%.100s\"", op, settings[i].name);
    }
    return TERN_OK;
}

static size_t text_size(const tern_setting *setting)
{
    return setting->type == TERN_SETTING_TEXT ? strlen(setting->text) + 1 : 0;
}

static const char *keep_text(char **at, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *kept = memcpy(*at, text, size);
    *at += size;
    return kept;
}

static void keep_settings(tern_log_payload *payload, const tern_setting *settings, int64_t count)
{
    tern_setting *kept = (tern_setting *)(void *)payload->bytes;
    char *text = payload->bytes + (size_t)count * sizeof *kept;
    for (int64_t i = 0; i < count; i++) {
        kept[i] = settings[i];
        kept[i].name = keep_text(&text, settings[i].name);
        if (settings[i].type == TERN_SETTING_TEXT)
            kept[i].text = keep_text(&text, settings[i].text);
    }
    payload->settings = kept;
    payload->count = count;
}

tern_status tern_logger_add_settings(tern_logger *logger, const tern_setting *settings,
                                     int64_t count)
{
    static const char op[] = "logger_add_settings";
    tern_log_payload *payload;
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check(op, logger));
    TERN_TRY(check_settings(op, settings, count));
    size_t size = (size_t)count * sizeof *settings;
    for (int64_t i = 0; i < count; i++)
        size += strlen(settings[i].name) + 1 + text_size(&settings[i]);
    TERN_TRY(make_payload(logger, size, &payload));
    if (payload)
        keep_settings(payload, settings, count);
    return tern_logger_push_payload(op, logger, TERN_ENTRY_SETTINGS, 0, payload, NULL);
}

// ---- the page -----------------------------------------------------------------------------------

tern_status tern_logger_add_page(tern_logger *logger)
{
    static const char op[] = "logger_add_page";
    if (!logger)
        return TERN_OK;
    TERN_TRY(tern_logger_check(op, logger));
    TERN_CHECK(logger->off || logger->files[TERN_LOG_JSON_LINES].fd >= 0, TERN_ERR_STATE,
               "%s: the page is made of log.jsonl, which .jsonl = false leaves out", op);
    if (atomic_exchange(&logger->has_page, true))
        return TERN_OK; // the one that is asked for will have it all
    return tern_logger_push(op, logger, (tern_log_entry){.kind = TERN_ENTRY_PAGE}, NULL);
}

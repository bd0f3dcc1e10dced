#ifndef CSKERRY_CURL_SHIM_H
#define CSKERRY_CURL_SHIM_H
#include <curl/curl.h>
#include <signal.h>

/* curl_easy_setopt is variadic: one wrapper for each kind of argument that it takes. */
static inline CURLcode skerry_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode skerry_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode skerry_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode skerry_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}
static inline CURLcode skerry_set_headers(CURL *easy, struct curl_slist *value) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, value);
}
static inline CURLcode skerry_set_callback(CURL *easy, CURLoption option, curl_write_callback value) {
  return curl_easy_setopt(easy, option, value);
}

/* The protocols as a text came with 7.85, and deprecated the bit set before it. */
static inline CURLcode skerry_set_http_only(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}
/* Since 7.87 giving up a transfer need not wait for a name that is still being looked up. */
static inline void skerry_set_quick_exit(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
}

/* curl_easy_getinfo is variadic. */
static inline long skerry_info_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline curl_off_t skerry_info_size(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

/* CURLMsg holds a union: the result of the one transfer of this handle, or -1 while it is under way. */
static inline int skerry_finished(CURLM *multi) {
  int left = 0;
  CURLMsg *message;
  while ((message = curl_multi_info_read(multi, &left)) != NULL)
    if (message->msg == CURLMSG_DONE) return (int)message->data.result;
  return -1;
}

/* The flags are a combination of shifted macros. */
static inline CURLcode skerry_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

/* SIG_DFL and SIG_IGN are cast macros. A handler of the program's own stays. */
static inline void skerry_ignore_broken_pipes(void) {
  struct sigaction current;
  if (sigaction(SIGPIPE, NULL, &current) == 0 && current.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}
#endif

#ifndef CSKERRY_SQLITE_SHIM_H
#define CSKERRY_SQLITE_SHIM_H
#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast macro, which does not import. */
static inline int skerry_bind_text(sqlite3_stmt *s, int i, const char *p, sqlite3_uint64 n) {
  return sqlite3_bind_text64(s, i, p, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int skerry_bind_blob(sqlite3_stmt *s, int i, const void *p, sqlite3_uint64 n) {
  return sqlite3_bind_blob64(s, i, p, n, SQLITE_TRANSIENT);
}
/* sqlite3_db_config is variadic, which does not import. Defensive mode: no SQL may write the file's own structures. */
static inline int skerry_set_defensive(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
/* The WAL checkpoint when the last connection closes would make a second checkpointer. */
static inline int skerry_checkpoint_on_close(sqlite3 *db, int is_on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_on, (int *)0);
}
/* sqlite3_config is variadic, which does not import. Refused once SQLite is at work, with no harm done. */
static inline int skerry_no_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
#endif

#ifndef CSKERRY_MICROHTTP_SHIM_H
#define CSKERRY_MICROHTTP_SHIM_H
#include <microhttpd.h>
#include <sys/socket.h>

typedef void *(*skerry_target_callback)(void *context, const char *target, struct MHD_Connection *connection);

/* What MHD_start_daemon takes as a variable list. */
typedef struct skerry_daemon_options {
  int ipv6;
  const struct sockaddr *address;
  unsigned int threads;
  unsigned int connections;
  unsigned int connections_per_address;
  unsigned int idle_seconds;
  size_t connection_memory;
  MHD_AccessHandlerCallback handle;
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
  skerry_target_callback target;
  void *context;
} skerry_daemon_options;

/* MHD_start_daemon is variadic, and its flags are macros and enumerators of different widths. */
static inline struct MHD_Daemon *skerry_start_daemon(const skerry_daemon_options *o) {
  struct MHD_OptionItem pool[] = {
      /* MHD refuses a pool of one thread: one internal thread is the form without the option. */
      {o->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)o->threads, NULL},
      {MHD_OPTION_END, 0, NULL}};
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME | (o->ipv6 ? MHD_USE_IPv6 : 0);
  return MHD_start_daemon(
      flags, 0, NULL, NULL, o->handle, o->context,
      MHD_OPTION_SOCK_ADDR, o->address,
      MHD_OPTION_CONNECTION_LIMIT, o->connections,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, o->connections_per_address,
      MHD_OPTION_CONNECTION_TIMEOUT, o->idle_seconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->connection_memory,
      MHD_OPTION_NOTIFY_COMPLETED, o->completed, o->context,
      MHD_OPTION_NOTIFY_CONNECTION, o->connection, o->context,
      MHD_OPTION_URI_LOG_CALLBACK, o->target, o->context,
      MHD_OPTION_ARRAY, pool,
      MHD_OPTION_END);
}

/* MHD_get_daemon_info is variadic. */
static inline uint16_t skerry_daemon_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info == NULL ? 0 : info->port;
}

/* MHD_get_connection_info is variadic. */
static inline void *skerry_connection_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == NULL ? NULL : info->socket_context;
}
static inline int skerry_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : (int)info->connect_fd;
}

/* MSG_NOSIGNAL is missing on some systems, and a macro on others. */
#ifdef MSG_NOSIGNAL
#define SKERRY_SEND_FLAGS (MSG_NOSIGNAL | MSG_DONTWAIT)
#else
#define SKERRY_SEND_FLAGS MSG_DONTWAIT
#endif
static inline ssize_t skerry_send_now(int socket, const void *bytes, size_t count) {
  return send(socket, bytes, count, SKERRY_SEND_FLAGS);
}
/* SHUT_RDWR is an enumerator on some systems, and a macro on others. */
static inline int skerry_shut_down(int socket) { return shutdown(socket, SHUT_RDWR); }
#endif

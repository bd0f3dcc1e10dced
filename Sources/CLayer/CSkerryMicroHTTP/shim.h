#ifndef CSkerryMicroHTTP_SHIM_H
#define CSkerryMicroHTTP_SHIM_H
#include <microhttpd.h>
#endif

#include "test_headers.h"

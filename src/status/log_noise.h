/* Recognizes lines that machine learning programs print at every start, and that explain no
 * failure. Pure.
 *
 * Sources: Abseil's and glog's log lines at level INFO ("I0000 00:00:1795815815.181702 16722
 * port.cc:153] …"; absl/log/internal/log_format.cc), TensorFlow's before 2.17 ("2026-11-27
 * 21:36:55.000000: I tensorflow/core/…"), and the text after such a prefix. */
#pragma once

#include <stdbool.h>

bool log_noise_is(const char *line);

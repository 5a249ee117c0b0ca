/* report_labels.h: samples by the value of one of their labels, such as the thread's name.
 *
 * Each value is a node of the report, with flat and cum alike. Samples without the label are one
 * node, "[no KEY]". A sample with several values of one label counts for the first. Numbers are
 * shown with their unit ("96B"). */
#ifndef HEAPPROF_CLI_REPORT_LABELS_H
#define HEAPPROF_CLI_REPORT_LABELS_H

#include <stdbool.h>

struct profile;
struct profile_label;
struct profile_sample;
struct report_nodes;

/* Whether the label says anything: a number 0 without unit cannot be told from no label at all in
 * the file format. */
bool report_label_is_given(const struct profile_label *label);

/* Whether any sample of profile has the label key. */
bool report_labels_has(const struct profile *profile, const char *key);

/* "thread, tid": the keys of all labels, each once, as many as fit; "" when there are none. Returns
 * keys. */
#define REPORT_LABELS_KEYS_SIZE 256
char *report_labels_keys(const struct profile *profile, char keys[REPORT_LABELS_KEYS_SIZE]);

/* Makes *nodes, for report_nodes_done, from the values of the label key. Until then, the node of
 * sample i is in of_sample[i]. No locations lead to these nodes. */
void report_labels_init(struct report_nodes *nodes, const struct profile *profile, const char *key);

#endif

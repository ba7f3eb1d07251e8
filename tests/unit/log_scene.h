/* A folder of logs and the writers that fill it, for tests of what writes and reads them. */
#pragma once

#include "base/mem.h"
#include "logs/reader.h"
#include "logs/writer.h"
#include "own_folder.h"

#include <assert.h>

#define LOG_SCENE_WRITERS 8
#define NO_ROTATION ((int64_t) 1 << 40)
#define NOON ((msec) 1700000000000)

struct log_scene {
	char folder[OWN_FOLDER_SIZE];
	struct log_writer *writers[LOG_SCENE_WRITERS];
	size_t n_writers;
	struct log_reader *reader;
};

static inline int log_scene_begin(void **state)
{
	struct log_scene *scene = mem_new(sizeof(*scene));

	own_folder_make(scene->folder);
	*state = scene;
	return 0;
}

static inline int log_scene_end(void **state)
{
	struct log_scene *scene = *state;

	log_reader_free(scene->reader);
	while (scene->n_writers)
		log_writer_close(scene->writers[--scene->n_writers]);
	own_folder_remove(scene->folder);
	mem_free_any(&scene);
	return 0;
}

static inline struct log_writer *
log_scene_open_named(struct log_scene *scene, const struct log_name *name, int64_t rotate_at)
{
	struct log_writer **place = &scene->writers[scene->n_writers++];
	struct err err = {0};

	assert(scene->n_writers <= LOG_SCENE_WRITERS);
	if (log_writer_open(scene->folder, name, rotate_at, place, &err) != 0)
		fail_msg("%s", err.text);
	return *place;
}

/* The log of worker-INDEX in one attempt. */
static inline struct log_writer *log_scene_open(struct log_scene *scene, int index, int attempt,
						int64_t rotate_at)
{
	const struct log_name name = {.role = "worker", .index = index, .attempt = attempt};

	return log_scene_open_named(scene, &name, rotate_at);
}

/* That of its stderr, which is kept apart. */
static inline struct log_writer *log_scene_open_stderr(struct log_scene *scene, int index,
						       int attempt)
{
	const struct log_name name = {
		.role = "worker", .index = index, .attempt = attempt, .is_stderr = true};

	return log_scene_open_named(scene, &name, NO_ROTATION);
}

/* Closes the one that was opened last. */
static inline void log_scene_close(struct log_scene *scene)
{
	log_writer_close(scene->writers[--scene->n_writers]);
}

#include "hmb/counter_code.h"
#include "hmb/varint.h"

#include <string.h>

#define MOST_ONES   16
#define MAX_SHIFT   56
#define UNITS       8 /* what is usual from sample to sample has 2^8 to 2^9 units */
#define SPREAD_MOST ((uint64_t)1 << 40)
#define SPREAD_LIFE 16 /* samples after which the older half counts half */
#define LATEST      64 /* samples that a mean is of */

static unsigned bit_length(uint64_t value)
{
	return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* --- the model -------------------------------------------------------------------------------- */

void counter_begin(struct counter_model *model, unsigned nr)
{
	model->nr = nr;
	for (unsigned i = 0; i < nr; i++) {
		model->spreads[i] = (struct counter_spread){64, 1};
		model->usual[i] = 0;
	}
	memset(model->keys, 0, sizeof(model->keys));
}

static unsigned rice_parameter(const struct counter_spread *spread)
{
	unsigned k = 0;

	while (k < 40 && (uint64_t)spread->nr << k < spread->sum)
		k++;
	return k;
}

static void spread_add(struct counter_spread *spread, uint64_t u)
{
	spread->sum += u < SPREAD_MOST ? u : SPREAD_MOST;
	if (++spread->nr == SPREAD_LIFE) {
		spread->sum /= 2;
		spread->nr /= 2;
	}
}

/* The stream's state; *known: whether it had totals in this bin. */
static struct counter_stream *find_stream(struct counter_model *model, uint32_t number, bool *known)
{
	unsigned slot = number % COUNTER_STREAMS;

	*known = model->keys[slot] == (uint64_t)number + 1;
	model->keys[slot] = (uint64_t)number + 1;
	return &model->streams[slot];
}

/* Sets the first total of a stream in this bin. */
static void stream_start(struct counter_model *model, struct counter_stream *stream, unsigned i,
                         uint64_t total)
{
	stream->last[i] = total;
	stream->step[i] = model->usual[i];
}

/* Half of the way: phases last, and noise does not. */
static void stream_step(struct counter_model *model, struct counter_stream *stream, unsigned i,
                        uint64_t total)
{
	int64_t more = (int64_t)(total - stream->last[i] - stream->step[i]);

	stream->step[i] =
		stream->step[i] ? stream->step[i] + (uint64_t)(more / 2) : total - stream->last[i];
	stream->last[i] = total;
	model->usual[i] = stream->step[i];
}

static uint64_t expected(const struct counter_stream *stream, unsigned i)
{
	return stream->last[i] + stream->step[i];
}

/* --- encoding --------------------------------------------------------------------------------- */

struct bit_writer {
	unsigned char *at;
	uint64_t hold; /* fewer than 8 bits between calls */
	unsigned nr;
};

/* At most 56 bits at once. */
static void put_few(struct bit_writer *bits, uint64_t value, unsigned nr)
{
	bits->hold |= value << bits->nr;
	for (bits->nr += nr; bits->nr >= 8; bits->nr -= 8) {
		*bits->at++ = (unsigned char)bits->hold;
		bits->hold >>= 8;
	}
}

static void put_bits(struct bit_writer *bits, uint64_t value, unsigned nr)
{
	if (nr < 64)
		value &= ((uint64_t)1 << nr) - 1;
	if (nr > 32) {
		put_few(bits, value & UINT32_MAX, 32);
		value >>= 32;
		nr -= 32;
	}
	put_few(bits, value, nr);
}

static void put_total(struct bit_writer *bits, uint64_t total)
{
	unsigned length = bit_length(total);

	put_bits(bits, length, 7);
	put_bits(bits, total, length ? length - 1 : 0);
}

static void put_rice(struct bit_writer *bits, uint64_t u, unsigned k)
{
	unsigned length = bit_length(u);

	if (u >> k < MOST_ONES) {
		put_few(bits, ((uint64_t)1 << (u >> k)) - 1, (unsigned)(u >> k) + 1);
		put_bits(bits, u, k);
		return;
	}
	put_few(bits, (1 << MOST_ONES) - 1, MOST_ONES);
	put_few(bits, length - 1, 6);
	put_bits(bits, u, length);
}

/* Rounds to the nearest unit: truncated totals would all be too small by half a unit on average. */
static uint64_t rounded(uint64_t total, unsigned shift)
{
	uint64_t half = shift ? (uint64_t)1 << (shift - 1) : 0;

	return total > UINT64_MAX - half ? total >> shift : (total + half) >> shift;
}

unsigned char *counter_put(struct counter_model *model, unsigned char *at, uint32_t number,
                           const uint64_t *totals, bool first)
{
	struct bit_writer bits;
	bool known;
	struct counter_stream *stream = find_stream(model, number, &known);

	for (unsigned i = 0; first && i < model->nr; i++)
		*at++ = model->shifts[i];
	bits = (struct bit_writer){.at = at};
	for (unsigned i = 0; i < model->nr; i++) {
		uint64_t total = rounded(totals[i], model->shifts[i]), u;

		if (!known) {
			put_total(&bits, total);
			stream_start(model, stream, i, total);
			continue;
		}
		u = zigzag(total - expected(stream, i));
		put_rice(&bits, u, rice_parameter(&model->spreads[i]));
		spread_add(&model->spreads[i], u);
		stream_step(model, stream, i, total);
	}
	if (bits.nr)
		*bits.at++ = (unsigned char)bits.hold;
	return bits.at;
}

/* --- decoding --------------------------------------------------------------------------------- */

/* Behind the end it reads zeros and leaves at == NULL. */
struct bit_reader {
	const unsigned char *at, *end;
	uint64_t hold;
	unsigned nr;
};

static void get_byte(struct bit_reader *bits)
{
	if (!bits->at || bits->at == bits->end) {
		bits->at = NULL;
		bits->nr += 8;
		return;
	}
	bits->hold |= (uint64_t)*bits->at++ << bits->nr;
	bits->nr += 8;
}

/* At most 56 bits at once. */
static uint64_t get_few(struct bit_reader *bits, unsigned nr)
{
	uint64_t value;

	while (bits->nr < nr)
		get_byte(bits);
	value = bits->hold & (((uint64_t)1 << nr) - 1);
	bits->hold >>= nr;
	bits->nr -= nr;
	return value;
}

static uint64_t get_bits(struct bit_reader *bits, unsigned nr)
{
	uint64_t low;

	if (nr <= 32)
		return get_few(bits, nr);
	low = get_few(bits, 32);
	return low | get_few(bits, nr - 32) << 32;
}

static uint64_t get_total(struct bit_reader *bits)
{
	unsigned length = (unsigned)get_few(bits, 7);

	if (length > 64) {
		bits->at = NULL;
		return 0;
	}
	if (!length)
		return 0;
	return get_bits(bits, length - 1) | (uint64_t)1 << (length - 1);
}

static uint64_t get_rice(struct bit_reader *bits, unsigned k)
{
	uint64_t ones = 0;

	while (ones < MOST_ONES && get_few(bits, 1))
		ones++;
	if (ones == MOST_ONES)
		return get_bits(bits, (unsigned)get_few(bits, 6) + 1);
	return ones << k | get_bits(bits, k);
}

static const unsigned char *get_shifts(struct counter_model *model, const unsigned char *at,
                                       const unsigned char *end)
{
	if ((size_t)(end - at) < model->nr)
		return NULL;
	memcpy(model->shifts, at, model->nr);
	for (unsigned i = 0; i < model->nr; i++)
		if (model->shifts[i] > MAX_SHIFT)
			return NULL;
	return at + model->nr;
}

const unsigned char *counter_get(struct counter_model *model, const unsigned char *at,
                                 const unsigned char *end, uint32_t number, uint64_t *totals,
                                 bool first)
{
	struct bit_reader bits;
	bool known;
	struct counter_stream *stream = find_stream(model, number, &known);

	if (first)
		at = get_shifts(model, at, end);
	if (!at)
		return NULL;
	bits = (struct bit_reader){.at = at, .end = end};
	for (unsigned i = 0; i < model->nr; i++) {
		uint64_t u, total;

		if (known) {
			u = get_rice(&bits, rice_parameter(&model->spreads[i]));
			total = expected(stream, i) + unzigzag(u);
			spread_add(&model->spreads[i], u);
			stream_step(model, stream, i, total);
		} else {
			total = get_total(&bits);
			stream_start(model, stream, i, total);
		}
		totals[i] = total << model->shifts[i];
	}
	return bits.at;
}

/* --- units ------------------------------------------------------------------------------------ */

void counter_scale_note(struct counter_scale *scale, uint32_t number, const uint64_t *totals)
{
	unsigned slot = number % COUNTER_STREAMS;
	bool known = scale->keys[slot] == (uint64_t)number + 1;

	scale->keys[slot] = (uint64_t)number + 1;
	scale->seen += known && scale->seen < LATEST;
	for (unsigned i = 0; i < scale->nr; i++) {
		uint64_t last = scale->last[slot][i];
		double more = totals[i] > last ? (double)(totals[i] - last) : 0;

		if (known)
			scale->mean[i] += (more - scale->mean[i]) / scale->seen;
		scale->last[slot][i] = totals[i];
	}
}

void counter_scale_shifts(const struct counter_scale *scale, uint8_t shifts[COUNTER_MAX])
{
	for (unsigned i = 0; i < scale->nr; i++) {
		unsigned length = bit_length((uint64_t)scale->mean[i]);

		shifts[i] = (uint8_t)(length > UNITS + 1 ? length - UNITS - 1 : 0);
		if (shifts[i] > MAX_SHIFT)
			shifts[i] = MAX_SHIFT;
	}
}

#include "trace/message_epochs.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

int message_epochs_add(struct message_epochs *epochs, uint64_t number, uint64_t balance)
{
	uint32_t place = map64_number(&epochs->by_number, number);
	const struct message_epoch none = {0};

	if (place == UINT32_MAX ||
	    (place >= epochs->nr && ARRAY_ADD(epochs->epochs, epochs->nr, none)))
		return -ENOMEM;
	epochs->epochs[place].balance += balance;
	epochs->epochs[place].nr_ranks++;
	return 0;
}

bool message_epochs_settled(const struct message_epochs *epochs, uint64_t number, uint32_t nr_ranks)
{
	uint32_t place = map64_get(&epochs->by_number, number);

	return place < epochs->nr && !epochs->epochs[place].balance &&
	       epochs->epochs[place].nr_ranks == nr_ranks;
}

void message_epochs_fini(struct message_epochs *epochs)
{
	map64_fini(&epochs->by_number);
	free(epochs->epochs);
	*epochs = (struct message_epochs){0};
}

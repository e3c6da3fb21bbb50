/* A library with a parallel region, which has a barrier and a critical section. */
#include <omp.h>
#include <stddef.h>

int run_region(int (*inner)(void))
{
	int sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
#pragma omp barrier
		sum++;
#pragma omp critical
		if (inner && !omp_get_thread_num())
			sum += inner();
	}
	return sum;
}

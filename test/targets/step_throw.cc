// Exceptions, thrown and caught at many depths, through destructors, callbacks and other catches.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

volatile long sink;

struct guard {
	explicit guard(int n) : n(n) {}
	~guard() { sink = sink + n; }
	int n;
};

struct shape {
	virtual ~shape() = default;
	virtual int area(int depth) const = 0;
};

int dive(int depth, int how);

struct square : shape {
	int area(int depth) const override { return dive(depth - 1, depth % 5); }
};

__attribute__((noinline)) void fail(int how)
{
	if (how == 0)
		throw std::runtime_error("thrown " + std::to_string(how));
	if (how == 1)
		throw how;
	if (how == 2)
		(void)std::vector<int>(3).at(7);
	if (how == 3)
		(void)std::stoi("no number");
	throw std::string(40, 'x');
}

__attribute__((noinline)) int through(const std::function<int(int)> &function, int depth)
{
	guard one(1), two(2);
	std::string text(static_cast<size_t>(depth) * 5 + 1, 'a');

	return function(depth) + static_cast<int>(text.size());
}

// Every third level catches and throws on, or throws another one in its place.
int dive(int depth, int how)
{
	guard here(depth);

	if (depth <= 0)
		fail(how);
	if (depth % 3 == 0) {
		try {
			return through([how](int d) { return dive(d - 1, how); }, depth);
		} catch (const std::logic_error &) {
			throw;
		} catch (int n) {
			throw std::out_of_range(std::to_string(n));
		}
	}
	if (depth % 4 == 1)
		return std::unique_ptr<shape>(new square)->area(depth);
	return dive(depth - 1, how) + 1;
}

void round(int n)
{
	std::map<std::string, int> counts;
	std::vector<int> numbers;

	for (int depth = 1; depth < 20; depth++) {
		try {
			dive(depth, n % 5);
		} catch (const std::exception &error) {
			counts[error.what()]++;
		} catch (...) {
			counts["other"]++;
		}
		numbers.push_back((depth * 7919 + n) % 100);
	}
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
	try {
		std::regex(n % 2 ? "a(b" : "a+(b|c)*").mark_count();
	} catch (const std::regex_error &) {
		sink = sink + 1;
	}
	sink = sink + static_cast<long>(counts.size()) + numbers[0];
}

} // namespace

int main()
{
	for (int n = 0; n < 100000; n++)
		round(n);
	return 0;
}

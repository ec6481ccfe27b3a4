mod by_partition;
mod lookup;
mod lookup_cases;
mod written;

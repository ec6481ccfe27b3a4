package dev.faro.flink;

import java.nio.file.Path;

/**
 * A job that is measured.
 *
 * @param job its name, of {@link BenchmarkJobs}
 * @param partitions parallelism of its operators
 * @param codec none, lz4 or zstd
 * @param plainMib MiB of records that go through its largest exchange, unless it is a query
 * @param tables folder of TPC-H's tables
 */
record JobCase(String job, int partitions, String codec, long plainMib, String tables) {
    static final int TASK_MANAGERS = 2;

    Cluster.Job toJob() {
        return BenchmarkJobs.job(job, plainMib << 20, new Tpch(Path.of(tables)));
    }

    int slotsOfTaskManager() {
        return (partitions + TASK_MANAGERS - 1) / TASK_MANAGERS;
    }
}

package dev.faro.flink;

import java.nio.file.Path;

/**
 * A job that is measured.
 *
 * @param job a name in {@link BenchmarkJobs}
 * @param partitions the parallelism of its operators
 * @param codec none, lz4 or zstd
 * @param plainMib the size of its largest exchange in MiB of records; ignored for a query
 * @param tables the folder of TPC-H's tables
 */
record JobCase(String job, int partitions, String codec, long plainMib, String tables) {
    Cluster.Job toJob() {
        return BenchmarkJobs.job(job, plainMib << 20, new Tpch(Path.of(tables)));
    }

    int slotsOfTaskManager() {
        return (partitions + Cluster.TASK_MANAGERS - 1) / Cluster.TASK_MANAGERS;
    }
}

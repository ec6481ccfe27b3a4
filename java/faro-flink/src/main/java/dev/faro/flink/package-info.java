/**
 * Blocking exchanges of Apache Flink's batch jobs in Faro files. Set {@code shuffle-service-factory.class} to
 * {@link dev.faro.flink.FaroShuffleServiceFactory}. All other exchanges stay Flink's.
 */
package dev.faro.flink;


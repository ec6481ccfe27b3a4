/**
 * Blocking exchanges of Apache Flink's batch jobs in Faro files. Set {@code shuffle-service-factory.class} to
 * {@link dev.faro.flink.FaroShuffleServiceFactory}; everything that is not a blocking exchange stays Flink's.
 */
package dev.faro.flink;


/**
 * Apache Spark's shuffle in Faro files. {@link dev.faro.spark.FaroShuffleManager} is the value of
 * {@code spark.shuffle.manager}. A map task writes one output ({@link dev.faro.spark.FaroShuffleWriter}); what a reduce
 * task fetches of it is a fragment (spec, FRG), which is checked before any record of it is read.
 */
package dev.faro.spark;

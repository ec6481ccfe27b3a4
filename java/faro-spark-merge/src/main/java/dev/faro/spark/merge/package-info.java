/**
 * Merging of pushed blocks in Spark's shuffle service. {@link dev.faro.spark.merge.FaroMergeManager} is the class to
 * configure; the others are for {@code faro-spark}.
 */
package dev.faro.spark.merge;

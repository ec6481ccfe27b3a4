/** Outputs in Hadoop's file systems: HDFS, S3A, ABFS, GCS, local files, and others. Needs Hadoop 3.3.5 or newer. */
package dev.faro.hadoop;

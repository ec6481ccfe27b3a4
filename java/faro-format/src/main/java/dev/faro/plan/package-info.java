/** Plans of reads, without threads and files: which reads serve which extents. */
package dev.faro.plan;

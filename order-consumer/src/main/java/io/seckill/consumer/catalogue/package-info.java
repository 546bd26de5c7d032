/**
 * What is for sale: products, their rules, and the state of their sales. Single rows go through
 * JPA, which never writes the columns that storing a batch of orders updates.
 */
@NullMarked
package io.seckill.consumer.catalogue;

import org.jspecify.annotations.NullMarked;

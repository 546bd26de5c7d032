/** Tests of the pages in a real browser, with the whole pipeline. */
@NullMarked
package io.seckill.system.pages;

import org.jspecify.annotations.NullMarked;

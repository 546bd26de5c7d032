/** The pages in a real browser, before the whole pipeline. */
@NullMarked
package io.seckill.system.pages;

import org.jspecify.annotations.NullMarked;

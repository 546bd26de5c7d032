package io.seckill.testing.mutation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A mutation that changes nothing is always reported. */
class MutantLoaderTest {

  private static final String KEYS = "io.seckill.common.redis.RedisKeys";

  @Test
  void changesAClassForItsOwnClassesOnly() throws Exception {
    Mutation mutation = any().constant(KEYS, "skus", "other");
    Class<?> changed = loader(mutation.edits()).loadClass(KEYS);

    assertThat(changed.getMethod("skus", int.class).invoke(null, 1)).isEqualTo("seckill:{1}:other");
    assertThat(RedisKeys.skus(1)).isEqualTo("seckill:{1}:skus");
  }

  @Test
  void sharesLibrariesAndServersAndLoadsTheProductAnew() throws Exception {
    MutantLoader loader = loader(List.of());

    assertThat(loader.loadClass(PurchasePolicy.class.getName())).isNotSameAs(PurchasePolicy.class);
    assertThat(loader.loadClass(MutantLoaderTest.class.getName())).isSameAs(MutantLoaderTest.class);
    assertThat(loader.loadClass(Test.class.getName())).isSameAs(Test.class);
  }

  @Test
  void tellsWhatWasNeverLoaded() {
    Mutation mutation = any().constant(KEYS, "skus", "other");

    assertThat(loader(mutation.edits()).neverLoaded())
        .containsExactly("io/seckill/common/redis/RedisKeys.class");
  }

  @Test
  void refusesAClassThatDoesNotExist() {
    refuses(any().constant("io.seckill.Renamed", "a", "b"), "io/seckill/Renamed.class");
  }

  @Test
  void refusesACallThatIsNotMade() {
    refuses(any().calls(KEYS + "#prefix", KEYS + "#renamed", PurchasePolicy.class), "renamed");
    refuses(any().calls(KEYS + "#renamed", KEYS + "#prefix", PurchasePolicy.class), "renamed");
  }

  @Test
  void refusesATextThatIsNotThere() {
    refuses(any().text("io/seckill/common/redis/append.lua", "no such line", ""), "exactly once");
    refuses(any().text("renamed.lua", "a", "b"), "renamed.lua");
  }

  private static void refuses(Mutation mutation, String because) {
    assertThatThrownBy(() -> loader(mutation.edits()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(because);
  }

  private static MutantLoader loader(List<Edit> edits) {
    return new MutantLoader(MutantLoaderTest.class.getClassLoader(), edits);
  }

  private static Mutation any() {
    return Mutation.named("any");
  }
}

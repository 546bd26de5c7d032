package io.seckill.consumer.sales;

import static io.seckill.consumer.testing.RequestBodies.refused;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StockChangeControllerTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'reason':'x'}                                | delta",
        "{'delta':0,'reason':'x'}                      | delta",
        "{'delta':1.5,'reason':'x'}                    | delta",
        "{'delta':'5','reason':'x'}                    | delta",
        "{'delta':1000000001,'reason':'x'}             | delta",
        "{'delta':-9223372036854775808,'reason':'x'}   | delta",
        "{'delta':1}                                   | reason",
        "{'delta':1,'reason':'a\\r\\nb'}               | reason",
        "{'delta':1,'reason':'x','more':1}             | more"
      })
  void namesTheMemberThatIsWrong(String json, String member) {
    assertThat(refused(json, StockChangeController.Request.class)).isEqualTo(member);
  }
}

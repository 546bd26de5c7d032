package io.seckill.consumer.products;

import io.seckill.consumer.runtime.UtcColumn;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Converter;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * Instants of entities as the text of a DATETIME in UTC, written with milliseconds: see {@link
 * UtcColumn}.
 */
@Converter(autoApply = true)
class UtcMillis implements AttributeConverter<Instant, String> {

  @Override
  public @Nullable String convertToDatabaseColumn(@Nullable Instant moment) {
    return moment == null ? null : UtcColumn.text(moment.toEpochMilli());
  }

  /** Servers omit a fraction of zero, or pad it to the digits of the column. */
  @Override
  public @Nullable Instant convertToEntityAttribute(@Nullable String column) {
    return column == null
        ? null
        : LocalDateTime.parse(column.replace(' ', 'T')).toInstant(ZoneOffset.UTC);
  }
}

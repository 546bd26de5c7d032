package io.seckill.gateway.security;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * HMAC-SHA-256 with a shared secret (RFC 7515, 7518 section 3.2). Own code because this runs on the
 * event loop, once per purchase of a new shopper; the JDK does the cryptography.
 */
final class Hs256SignatureCheck implements SignatureCheck {

  private static final String ALGORITHM = "HmacSHA256";
  private static final int SIGNATURE_CHARS = 43; // 32 bytes in base64url without padding

  private final ThreadLocal<Mac> macs;

  /**
   * The header accepted last. All tokens of one issuer share one header; it is not parsed again.
   */
  private volatile @Nullable String acceptedHeader;

  Hs256SignatureCheck(byte[] secret) {
    SecretKeySpec key = new SecretKeySpec(secret, ALGORITHM);
    this.macs = ThreadLocal.withInitial(() -> mac(key));
  }

  @Override
  public boolean isGenuine(String token, int headerEnd, int payloadEnd) {
    return isHs256(token, headerEnd)
        && token.length() - payloadEnd - 1 == SIGNATURE_CHARS
        && MessageDigest.isEqual(expected(token, payloadEnd), given(token, payloadEnd));
  }

  private boolean isHs256(String token, int headerEnd) {
    String accepted = acceptedHeader;
    if (accepted != null
        && accepted.length() == headerEnd
        && token.regionMatches(0, accepted, 0, headerEnd)) {
      return true;
    }
    String header = token.substring(0, headerEnd);
    JoseHeader parsed = JoseHeader.parse(header);
    if (parsed == null || !"HS256".equals(parsed.algorithm())) {
      return false;
    }
    acceptedHeader = header;
    return true;
  }

  private byte[] expected(String token, int payloadEnd) {
    return macs.get().doFinal(token.substring(0, payloadEnd).getBytes(StandardCharsets.ISO_8859_1));
  }

  /**
   * Returns the token's signature, or an empty array, which equals no signature, if it is not
   * base64url.
   */
  private static byte[] given(String token, int payloadEnd) {
    try {
      return Base64.getUrlDecoder().decode(token.substring(payloadEnd + 1));
    } catch (IllegalArgumentException e) {
      return new byte[0];
    }
  }

  /** Returns a MAC that signs or checks with the secret. */
  static Mac mac(byte[] secret) {
    return mac(new SecretKeySpec(secret, ALGORITHM));
  }

  private static Mac mac(SecretKeySpec key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
    }
  }
}

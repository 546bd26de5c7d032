package io.seckill.gateway.security;

import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** A range of addresses, {@code address/bits}. Host names are never resolved. */
final class Network {

  private final byte[] address;
  private final int bits;

  private Network(byte[] address, int bits) {
    this.address = address;
    this.bits = bits;
  }

  /**
   * @throws IllegalArgumentException when the text is no network
   */
  static Network parse(String text) {
    int slash = text.indexOf('/');
    byte[] address =
        NetUtil.createByteArrayFromIpAddressString(slash < 0 ? text : text.substring(0, slash));
    if (address == null) {
      throw new IllegalArgumentException("seckill.limits: not a network: " + text);
    }
    int bits = slash < 0 ? address.length * 8 : Integer.parseInt(text.substring(slash + 1));
    if (bits < 0 || bits > address.length * 8) {
      throw new IllegalArgumentException("seckill.limits: not a network: " + text);
    }
    return new Network(address, bits);
  }

  boolean contains(InetAddress candidate) {
    byte[] other = candidate.getAddress();
    if (other.length != address.length) {
      return false;
    }
    for (int bit = 0; bit < bits; bit++) {
      int mask = 0x80 >> (bit % 8);
      if ((address[bit / 8] & mask) != (other[bit / 8] & mask)) {
        return false;
      }
    }
    return true;
  }

  /** Parses an IPv4 or IPv6 address; returns null when the text is not an address. */
  static @Nullable InetAddress address(String text) {
    byte[] bytes = NetUtil.createByteArrayFromIpAddressString(text);
    if (bytes == null) {
      return null;
    }
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      return null; // only for arrays that are neither 4 nor 16 bytes long
    }
  }
}

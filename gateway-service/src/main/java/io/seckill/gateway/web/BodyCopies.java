package io.seckill.gateway.web;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;

/**
 * Gives Reactor Netty copies of bodies. The codec drops what it has read only while its buffer has
 * no slices: with bodies that wait for their turn, the buffer would grow by all that the connection
 * sends.
 */
@Sharable
final class BodyCopies extends ChannelInboundHandlerAdapter {

  static final BodyCopies HANDLER = new BodyCopies();

  private BodyCopies() {}

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (message instanceof HttpContent part && part.content().isReadable()) {
      HttpContent copy = part.replace(Unpooled.copiedBuffer(part.content()));
      part.release();
      ctx.fireChannelRead(copy);
    } else {
      ctx.fireChannelRead(message);
    }
  }
}

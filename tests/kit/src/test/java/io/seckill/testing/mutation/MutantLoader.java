package io.seckill.testing.mutation;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.util.Collections;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Class loader that loads the product and its tests again, changed by edits. Libraries, JUnit and
 * the servers of {@code io.seckill.testing} are those of the parent.
 */
final class MutantLoader extends ClassLoader {

  private static final String OURS = "io.seckill.";
  private static final String SHARED = "io.seckill.testing.";

  private final Map<String, byte[]> classes = new HashMap<>();
  private final Map<String, URL> texts = new HashMap<>();
  private final Set<String> loaded = ConcurrentHashMap.newKeySet();

  /**
   * @throws IllegalArgumentException when one of the edits has nothing to change
   */
  MutantLoader(ClassLoader parent, List<Edit> edits) {
    super("mutant", parent);
    Edit.apply(edits, this::read)
        .forEach(
            (path, changed) -> {
              if (path.endsWith(".class")) {
                classes.put(path, changed);
              } else {
                texts.put(path, address(path, changed));
              }
            });
  }

  /** Paths of changed files that were never loaded. */
  Set<String> neverLoaded() {
    Set<String> idle = new TreeSet<>(classes.keySet());
    idle.addAll(texts.keySet());
    idle.removeAll(loaded);
    return idle;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(OURS) || name.startsWith(SHARED)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      return known == null ? define(name) : known;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    String path = Edit.classFile(name);
    if (getParent().getResource(path) == null) {
      throw new ClassNotFoundException(name);
    }
    loaded.add(path);
    byte[] changed = classes.get(path);
    byte[] bytes = changed == null ? ClassEdits.apply(read(path), List.of()) : changed;
    return defineClass(name, bytes, 0, bytes.length);
  }

  @Override
  public @Nullable URL getResource(String name) {
    URL text = texts.get(name);
    if (text == null) {
      return super.getResource(name);
    }
    loaded.add(name);
    return text;
  }

  @Override
  public Enumeration<URL> getResources(String name) throws IOException {
    URL text = texts.containsKey(name) ? getResource(name) : null;
    return text == null
        ? super.getResources(name)
        : Collections.enumeration(Collections.singleton(text));
  }

  /** Returns a URL that looks like that of the original file and opens the changed text. */
  private URL address(String path, byte[] text) {
    URL file = getParent().getResource(path);
    try {
      return new URL(file, file.toString(), new TextHandler(text));
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Opens a text in memory for any URL. */
  private static final class TextHandler extends URLStreamHandler {
    private final byte[] text;

    TextHandler(byte[] text) {
      this.text = text;
    }

    @Override
    protected URLConnection openConnection(URL address) {
      return new URLConnection(address) {
        @Override
        public void connect() {}

        @Override
        public InputStream getInputStream() {
          return new ByteArrayInputStream(text);
        }
      };
    }
  }

  private byte[] read(String path) {
    try (InputStream in = getParent().getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalArgumentException("there is no " + path + " to change");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

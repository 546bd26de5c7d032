package io.seckill.system.pages;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.Ports;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.By;
import org.openqa.selenium.NoSuchElementException;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * A headless Chromium, as packaged by Debian, with one window and its own profile. Waits check what
 * a person sees, and are bounded.
 */
final class Browser implements AutoCloseable {

  private static final Path SCREENSHOTS = Path.of("target", "screenshots");

  /** Console entries about answers with 4xx and 5xx, which some tests provoke. */
  private static final String NETWORK = " Failed to load resource: ";

  private static @Nullable Browser shared;

  private final ChromeDriver driver;

  private Browser(ChromeOptions options) {
    ChromeDriverService service =
        new ChromeDriverService.Builder()
            .usingDriverExecutable(new File(program("chromedriver")))
            .usingPort(Ports.free())
            .build();
    this.driver = new ChromeDriver(service, options);
  }

  /** A desktop window of 1280 × 900, in English, for all classes of this JVM: it ends with that. */
  static synchronized Browser desktop() {
    Browser browser = shared;
    if (browser == null) {
      browser = new Browser(options("en-US"));
      Runtime.getRuntime().addShutdownHook(new Thread(browser::close, "close-browser"));
      shared = browser;
    }
    return browser;
  }

  /** A window of the size of a phone, with touch instead of a mouse. */
  static Browser phone(String language) {
    ChromeOptions options = options(language);
    Map<String, Object> screen =
        Map.of("width", 390, "height", 844, "pixelRatio", 2.0, "touch", true);
    options.setExperimentalOption("mobileEmulation", Map.of("deviceMetrics", screen));
    return new Browser(options);
  }

  /** A desktop window that lets no site keep anything. */
  static Browser withoutSiteData() {
    ChromeOptions options = options("en-US");
    options.setExperimentalOption(
        "prefs", Map.of("profile.default_content_setting_values.cookies", 2));
    return new Browser(options);
  }

  private static ChromeOptions options(String language) {
    ChromeOptions options = new ChromeOptions();
    options.setBinary(program("chromium"));
    options.addArguments(
        "--headless=new",
        "--no-sandbox", // tests run as root in containers, and load pages of their own only
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        "--window-size=1280,900",
        "--lang=" + language,
        "--accept-lang=" + language);
    options.setExperimentalOption("prefs", Map.of("intl.accept_languages", language));
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    options.setCapability("goog:loggingPrefs", logs);
    return options;
  }

  /**
   * @throws IllegalStateException when Debian's package is not installed
   */
  private static String program(String name) {
    Path program = Path.of("/usr/bin", name);
    if (!Files.isExecutable(program)) {
      throw new IllegalStateException(
          program + " is missing: apt-get install chromium chromium-driver");
    }
    return program.toString();
  }

  Browser open(String url) {
    driver.get(url);
    return this;
  }

  /** Clears the session storage and the local storage of the current page. */
  void forgetEverything() {
    run("sessionStorage.clear(); localStorage.clear();");
  }

  void reload() {
    driver.navigate().refresh();
  }

  /** As when Back brings the page as it was left: no test can rely on a browser keeping it. */
  void comeBack() {
    run("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}));");
  }

  WebElement find(String selector) {
    return driver.findElement(By.cssSelector(selector));
  }

  List<WebElement> all(String selector) {
    return driver.findElements(By.cssSelector(selector));
  }

  /** Visible text, empty for what is not there or hidden. */
  String text(String selector) {
    try {
      List<WebElement> found = all(selector);
      return found.isEmpty() ? "" : found.get(0).getText();
    } catch (StaleElementReferenceException e) {
      return ""; // just replaced; a wait checks again
    }
  }

  boolean isShown(String selector) {
    try {
      List<WebElement> found = all(selector);
      return !found.isEmpty() && found.get(0).isDisplayed();
    } catch (StaleElementReferenceException e) {
      return false;
    }
  }

  void awaitText(String selector, String part) {
    await(selector + " says " + part, () -> text(selector).contains(part), () -> text(selector));
  }

  void awaitShown(String selector) {
    await(selector + " is shown", () -> isShown(selector), () -> "not shown");
  }

  void awaitHidden(String selector) {
    await(selector + " is hidden", () -> !isShown(selector), () -> "shown: " + text(selector));
  }

  /** Waits for a button that can be pressed, and presses it. */
  void press(String selector) {
    await(
        selector + " can be pressed",
        () -> isShown(selector) && pressIfEnabled(find(selector)),
        () -> "shown " + isShown(selector));
  }

  /** As {@link #press}, for the one of several buttons that has this text. */
  void pressLabelled(String selector, String label) {
    await(
        label + " can be pressed",
        () -> pressIfEnabled(selector, label),
        () -> texts(selector).toString());
  }

  private boolean pressIfEnabled(String selector, String label) {
    for (WebElement button : all(selector)) {
      if (button.getText().equals(label) && pressIfEnabled(button)) {
        return true;
      }
    }
    return false;
  }

  private static boolean pressIfEnabled(WebElement button) {
    boolean enabled = isEnabled(button);
    if (enabled) {
      button.click();
    }
    return enabled;
  }

  /** Waits for a table row that begins with a text and ends with another. */
  void awaitRow(String selector, String start, String end) {
    await(
        "a row " + start + " … " + end,
        () -> texts(selector).stream().anyMatch(row -> row.startsWith(start) && row.endsWith(end)),
        () -> texts(selector).toString());
  }

  private List<String> texts(String selector) {
    Object texts =
        run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText.trim());",
            selector);
    return ((List<?>) texts).stream().map(String::valueOf).toList();
  }

  boolean isEnabled(String selector) {
    return isEnabled(find(selector));
  }

  private static boolean isEnabled(WebElement button) {
    return button.isEnabled() && !"true".equals(button.getDomAttribute("aria-disabled"));
  }

  /** Whether the one of several buttons that has this text is enabled. */
  boolean isEnabled(String selector, String label) {
    return Boolean.TRUE.equals(
        run(
            "return [...document.querySelectorAll(arguments[0])].some((button) => "
                + "button.innerText === arguments[1] && button.ariaDisabled !== 'true');",
            selector,
            label));
  }

  void type(String selector, CharSequence text) {
    WebElement field = find(selector);
    field.clear();
    field.sendKeys(text);
  }

  /** As {@link #type}, for characters that no key has. */
  void paste(String selector, String text) {
    run("document.querySelector(arguments[0]).value = arguments[1];", selector, text);
  }

  /** Chooses an option of a list by its text. */
  void pick(String selector, String option) {
    find(selector).sendKeys(option);
  }

  Object run(String script, Object... arguments) {
    return driver.executeScript(script, arguments);
  }

  /** Holds back the page's further calls whose address has this part, until {@link #release}. */
  void hold(String part) {
    run(
        """
        const [part] = arguments;
        const send = window.fetch;
        const gate = {held: 0};
        const open = new Promise((release) => (gate.release = release));
        (window.gates ??= {})[part] = gate;
        window.fetch = async (url, ...more) => {
          if (String(url).includes(part)) {
            gate.held++;
            await open;
          }
          return send(url, ...more);
        };
        """,
        part);
  }

  /** Number of calls that {@link #hold} has held back. */
  long held(String part) {
    return (Long) run("return window.gates[arguments[0]].held;", part);
  }

  /** Lets the calls pass that {@link #hold} holds back, and those to come. */
  void release(String part) {
    run("window.gates[arguments[0]].release();", part);
  }

  /**
   * Lets the page's next call whose address ends so pass, but holds back its answer until {@link
   * #releaseAnswer}; {@link #held} is 1 once that has come.
   */
  void holdAnswer(String end) {
    run(
        """
        const [end] = arguments;
        const send = window.fetch;
        const gate = {held: 0};
        const open = new Promise((release) => (gate.release = release));
        (window.gates ??= {})[end] = gate;
        let next = true;
        window.fetch = async (url, ...more) => {
          if (!next || !String(url).endsWith(end)) return send(url, ...more);
          next = false;
          const {status, headers, body} = await send(url, ...more);
          const text = await new Response(body).text();
          gate.held = 1;
          await open;
          return {status, headers, text: async () => ((gate.taken = true), text)};
        };
        """,
        end);
  }

  /** Returns when the page has used the answer that {@link #holdAnswer} has held back. */
  void releaseAnswer(String end) {
    release(end);
    eventually()
        .until(() -> Boolean.TRUE.equals(run("return window.gates[arguments[0]].taken;", end)));
  }

  /**
   * Holds back the page's next call whose address ends so; {@link #releaseAnswer} answers it as one
   * whose token has expired.
   */
  void refuseLater(String end) {
    run(
        """
        const [end] = arguments;
        const send = window.fetch;
        const gate = {held: 0};
        const open = new Promise((release) => (gate.release = release));
        (window.gates ??= {})[end] = gate;
        window.fetch = async (url, ...more) => {
          if (gate.held || !String(url).endsWith(end)) return send(url, ...more);
          gate.held = 1;
          await open;
          const text = async () => ((gate.taken = true), '{"code": "UNAUTHORIZED"}');
          return {status: 401, headers: new Headers(), text};
        };
        """,
        end);
  }

  /** Gives the page's further calls whose address has this part no answer, until {@link #heal}. */
  void cut(String part) {
    run(
        """
        const send = window.fetch;
        [window.cut] = arguments;
        window.fetch = async (url, ...more) => {
          if (window.cut && String(url).includes(window.cut)) throw new TypeError('cut');
          return send(url, ...more);
        };
        """,
        part);
  }

  /** Lets the page's further calls whose address has this part pass without their answers. */
  void loseAnswers(String part) {
    run(
        """
        const send = window.fetch;
        [window.lost] = arguments;
        window.fetch = async (url, ...more) => {
          const answer = await send(url, ...more);
          if (window.lost && String(url).includes(window.lost)) throw new TypeError('lost');
          return answer;
        };
        """,
        part);
  }

  /** Ends {@link #cut} and {@link #loseAnswers}. */
  void heal() {
    run("window.cut = window.lost = null;");
  }

  /** Presses a button that offers a file; returns the file's text. */
  String offeredBy(String selector) {
    run(
        """
        const keep = URL.createObjectURL;
        window.offered = null;
        URL.createObjectURL = (blob) => {
          blob.text().then((text) => (window.offered = text));
          return keep.call(URL, blob);
        };
        """);
    press(selector);
    eventually().until(() -> run("return window.offered;") != null);
    return (String) run("return window.offered;");
  }

  ChromeDriver driver() {
    return driver;
  }

  private void await(String what, Supplier<Boolean> holds, Supplier<String> instead) {
    try {
      eventually(what)
          .pollInterval(Duration.ofMillis(50))
          .ignoreExceptionsMatching(Browser::isJustRedrawn)
          .until(holds::get);
    } catch (org.awaitility.core.ConditionTimeoutException e) {
      screenshot("failed");
      throw new AssertionError(what + ", but: " + instead.get() + "; console " + console(), e);
    }
  }

  private static boolean isJustRedrawn(Throwable failure) {
    return failure instanceof NoSuchElementException
        || failure instanceof StaleElementReferenceException;
  }

  /** Keeps a picture of the window under {@code target/screenshots}. */
  void screenshot(String name) {
    try {
      Files.createDirectories(SCREENSHOTS);
      Files.write(SCREENSHOTS.resolve(name + ".png"), driver.getScreenshotAs(OutputType.BYTES));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Bytes that came over the network for this page so far. */
  long loadedBytes() {
    Object bytes =
        run(
            "return [...performance.getEntriesByType('navigation'),"
                + "...performance.getEntriesByType('resource')]"
                + ".reduce((sum, entry) => sum + entry.transferSize, 0);");
    return ((Number) bytes).longValue();
  }

  /** Violations that axe-core finds on the current page after all CSS transitions; a line each. */
  List<?> accessibilityFaults() {
    if (Boolean.FALSE.equals(run("return 'axe' in window;"))) {
      run(axe());
    }
    return (List<?>)
        driver.executeAsyncScript(
            """
            const done = arguments[arguments.length - 1];
            const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
            const changes = document.getAnimations().filter((one) => one instanceof CSSTransition);
            const settled = Promise.allSettled(changes.map((change) => change.finished));
            settled.then(() => axe.run(document, {runOnly: tags})).then(
              (found) => done(found.violations.map((fault) => fault.id + ': ' + fault.help + ' at ' +
                fault.nodes.map((node) => node.target.join(' ')).join(', '))),
              (error) => done([String(error)]));
            """);
  }

  private static String axe() {
    try (InputStream script = Browser.class.getResourceAsStream("/axe.min.js")) {
      assertThat(script).as("axe.min.js").isNotNull();
      return new String(script.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Errors and warnings of the console since the last call: script errors and violations of the
   * content security policy, but not refused requests, which are valid answers.
   */
  List<String> complaints() {
    List<String> complaints = new ArrayList<>(console());
    complaints.removeIf(entry -> entry.contains(NETWORK) || !isComplaint(entry));
    return complaints;
  }

  private static boolean isComplaint(String entry) {
    return entry.startsWith("SEVERE") || entry.startsWith("WARNING");
  }

  private List<String> console() {
    List<String> lines = new ArrayList<>();
    for (LogEntry entry : driver.manage().logs().get(LogType.BROWSER)) {
      lines.add(entry.getLevel() + " " + entry.getMessage());
    }
    return lines;
  }

  @Override
  public void close() {
    driver.quit();
  }
}

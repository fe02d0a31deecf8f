#if Command && Inspector
  /// The page: a frame that its script fills. It contains nothing from the store.
  enum InspectorPage {
    static let html = #"""
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Garage inspector</title>
      <link rel="icon" href="/icon.svg" type="image/svg+xml">
      <link rel="stylesheet" href="/inspector.css">
      <script src="/inspector.js" defer></script>
      </head>
      <body>
      <button id="skip" type="button">Skip to the content</button>
      <header>
      <p class="brand"><strong>Garage</strong> <bdi id="store"></bdi> <span id="mode" class="badge"></span></p>
      <nav aria-label="Store"><ul id="places">
      <li><a href="#/">Types</a></li>
      <li><a href="#/keys">Keys</a></li>
      <li><a href="#/statistics">Statistics</a></li>
      <li><a href="#/verification">Verification</a></li>
      </ul></nav>
      <p id="live" role="status">Connecting</p>
      </header>
      <div id="columns">
      <nav id="types" aria-label="Types of objects"></nav>
      <main id="main" tabindex="-1"><noscript>The inspector needs JavaScript.</noscript></main>
      </div>
      <dialog id="dialog" aria-labelledby="dialog-title"></dialog>
      </body>
      </html>
      """#

    static let icon = #"""
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 7 8 2l7 5v7H1z" fill="#2b5fab"/>\#
      <path d="M4 8h8v6H4z" fill="#fff"/><path d="M4 10h8M4 12h8" stroke="#2b5fab"/></svg>
      """#
  }
#endif

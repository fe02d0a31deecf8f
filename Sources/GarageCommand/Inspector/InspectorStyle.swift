#if Command && Inspector
  /// The style of the page, in light and dark mode.
  enum InspectorStyle {
    static let css = #"""
      :root {
        color-scheme: light dark;
        --paper: #ffffff; --ink: #1c1f24; --soft: #f2f4f7; --line: #c9ced6; --quiet: #565d68; --accent: #1d4f9c;
        --on-accent: #ffffff; --warn: #9c1f1f; --cycle: #9a4a00; --text: #22601f; --number: #7a3200; --chosen: #dbe7fa;
        font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif;
      }
      @media (prefers-color-scheme: dark) {
        :root {
          --paper: #16191d; --ink: #e6e9ee; --soft: #20252b; --line: #444c57; --quiet: #a7b0bd; --accent: #8ab6ff;
          --on-accent: #0d1726; --warn: #ff9a94; --cycle: #ffb566; --text: #9ddb98; --number: #ffc08a; --chosen: #24395c;
        }
      }
      * { box-sizing: border-box; }
      html, body { height: 100%; margin: 0; }
      body { display: flex; flex-direction: column; background: var(--paper); color: var(--ink); }
      a { color: var(--accent); }
      :focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
      main:focus, h1:focus { outline: none; }
      h1 { font-size: 1.35rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
      h2 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
      p { margin: .4rem 0; }
      ul { margin: 0; padding: 0; list-style: none; }
      button, input, textarea { font: inherit; color: inherit; }
      button { background: var(--soft); border: 1px solid var(--line); border-radius: 5px; padding: .15rem .7rem; cursor: pointer; }
      button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
      button.small { font-size: .8rem; padding: 0 .4rem; }
      input, textarea { background: var(--paper); border: 1px solid var(--quiet); border-radius: 5px; padding: .25rem .5rem; width: 100%; }
      #skip { position: absolute; left: -100vw; }
      #skip:focus { left: .5rem; top: .5rem; z-index: 5; }
      header { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; align-items: baseline; padding: .5rem 1rem;
        background: var(--soft); border-bottom: 1px solid var(--line); }
      header p { margin: 0; overflow-wrap: anywhere; }
      header ul { display: flex; gap: 1rem; }
      [aria-current] { font-weight: 700; }
      #live { margin-left: auto; color: var(--quiet); }
      .badge { border: 1px solid var(--line); border-radius: 1em; padding: 0 .6em; font-size: .8rem; color: var(--quiet); }
      .badge:empty { display: none; }
      #columns { flex: 1; min-height: 0; display: flex; }
      #types { width: 17rem; overflow: auto; border-right: 1px solid var(--line); padding: .5rem; }
      #types a { display: flex; justify-content: space-between; gap: .6rem; padding: .2rem .4rem; border-radius: 5px;
        text-decoration: none; }
      #types a[aria-current] { background: var(--chosen); }
      #types bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      #types .number { color: var(--quiet); }
      main { flex: 1; min-width: 0; overflow: auto; padding: .8rem 1rem; display: flex; flex-direction: column; }
      main > * { flex: none; }
      .quiet, .kind { color: var(--quiet); }
      .problem { color: var(--warn); font-weight: 600; }
      .number { font-variant-numeric: tabular-nums; text-align: right; }
      table { border-collapse: collapse; }
      th, td { text-align: left; padding: .2rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top;
        overflow-wrap: anywhere; }
      th { font-weight: 600; }
      th.number, td.number { text-align: right; white-space: nowrap; }
      dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; }
      dt { color: var(--quiet); }
      dd { margin: 0; overflow-wrap: anywhere; }
      .bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .2rem 0 .6rem; }
      .bar label { flex: 1 1 20rem; display: flex; gap: .5rem; align-items: center; }
      .value { unicode-bidi: isolate; white-space: pre-wrap; overflow-wrap: anywhere; font-family: ui-monospace, "DejaVu Sans Mono", monospace;
        font-size: .9rem; }
      .value.string { color: var(--text); }
      .value.integer, .value.double, .value.float, .value.decimal, .value.bool { color: var(--number); }
      .value.nil { color: var(--quiet); font-style: italic; }
      .tree li { padding: .05rem 0; }
      .tree ul { padding-left: 1.4rem; border-left: 1px solid var(--line); margin-left: .35rem; }
      .tree .key { font-weight: 600; margin-right: .5rem; }
      .tree summary { cursor: pointer; }
      .grid { flex: 1 1 auto; min-height: 12rem; overflow: auto; border: 1px solid var(--line); border-radius: 5px; position: relative; }
      .grid .row { display: grid; grid-template-columns: var(--columns); height: 30px; line-height: 30px; min-width: max-content; }
      .grid .head { position: sticky; top: 0; z-index: 1; background: var(--soft); border-bottom: 1px solid var(--line); }
      .grid .head button { border: 0; background: none; padding: 0; font-weight: 600; width: 100%; text-align: left;
        overflow: hidden; text-overflow: ellipsis; }
      .grid .body { position: relative; }
      .grid .body .row { position: absolute; left: 0; border-bottom: 1px solid var(--soft); }
      .grid .body .row:hover { background: var(--soft); }
      .grid .row:focus { background: var(--chosen); }
      .grid .cell { padding: 0 .6rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
      .grid .value { white-space: pre; }
      .graph { flex: 1 1 auto; min-height: 16rem; overflow: auto; border: 1px solid var(--line); border-radius: 5px; }
      .graph rect { fill: var(--soft); stroke: var(--quiet); }
      .graph .start rect { stroke: var(--accent); stroke-width: 2.5; }
      .graph .missing rect { stroke-dasharray: 4 3; }
      .graph text { fill: var(--ink); font-size: 13px; }
      .graph .grow { cursor: pointer; }
      .graph .more { fill: var(--quiet); }
      .graph a text { fill: var(--accent); }
      .graph path { fill: none; stroke: var(--quiet); stroke-width: 1.3; }
      .graph path.lazy { stroke-dasharray: 2 4; }
      .graph path.cycle { stroke: var(--cycle); stroke-width: 2.6; }
      .graph marker path { fill: var(--quiet); stroke: none; }
      .graph :focus { outline: none; }
      .graph :focus rect, .graph a:focus text { stroke: var(--accent); stroke-width: 3; }
      .graph a:focus text { stroke-width: .6; text-decoration: underline; }
      dialog { width: min(40rem, 92vw); background: var(--paper); color: var(--ink); border: 1px solid var(--line); border-radius: 8px; }
      dialog::backdrop { background: rgb(0 0 0 / .5); }
      dialog textarea { min-height: 6rem; }
      @media (max-width: 50rem) {
        #columns { flex-direction: column; overflow: auto; }
        #types { width: auto; max-height: 9rem; flex: none; border-right: 0; border-bottom: 1px solid var(--line); }
        main { overflow: visible; flex: none; }
        .grid, .graph { height: 70vh; flex: none; }
      }
      """#
  }
#endif

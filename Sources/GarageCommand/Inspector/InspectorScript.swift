#if Command && Inspector
  /// What the page does. Content of a store only becomes text nodes; a browser that supports Trusted Types enforces that.
  enum InspectorScript {
    /// The whole script, as the browser gets it.
    static let javaScript = [core, shell, values, objects, grid, graph, care].joined(separator: "\n")

    /// Elements, requests and addresses.
    private static let core = #"""
      'use strict';

      /** An element with attributes, listeners (`onclick`) and children: elements, or text that stays text. */
      function el(name, attributes, ...children) {
        return fill(document.createElement(name), attributes, children);
      }

      function svg(name, attributes, ...children) {
        return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
      }

      function fill(element, attributes, children) {
        for (const [name, value] of Object.entries(attributes || {})) {
          if (value === undefined || value === null || value === false) continue;
          if (typeof value === 'function') element.addEventListener(name.slice(2), value);
          else element.setAttribute(name, value === true ? '' : String(value));
        }
        element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
        return element;
      }

      const byId = (id) => document.getElementById(id);
      const count = (number) => Number(number).toLocaleString('en');
      const counted = (number, what) => count(number) + ' ' + what + (number === 1 ? '' : 's');
      const shortType = (type) => /^[\w.]+$/.test(type) ? type.split('.').pop() : type;
      const moment = (text) => el('time', {datetime: text}, text.replace('T', ' ').replace('Z', ' UTC'));

      class Problem extends Error {
        constructor(status, message) {
          super(message);
          this.status = status;
        }
      }

      /** The token comes behind the address's `#` and stays in this tab. */
      const token = {
        value: null,
        take() {
          const found = /^#token=([0-9a-f]+)$/.exec(location.hash);
          if (found) {
            sessionStorage.setItem('token', found[1]);
            history.replaceState(null, '', location.pathname + '#/');
          }
          this.value = sessionStorage.getItem('token');
        },
      };

      async function request(method, path, parameters, body, signal) {
        const query = Object.entries(parameters || {})
          .filter(([, value]) => value !== undefined && value !== null && value !== '')
          .map(([name, value]) => encodeURIComponent(name) + '=' + encodeURIComponent(value)).join('&');
        const headers = {Authorization: 'Bearer ' + (token.value || '')};
        if (body) headers['Content-Type'] = 'application/json';
        let response;
        try {
          response = await fetch('/api/' + path + (query ? '?' + query : ''), {
            method, headers, signal, cache: 'no-store', body: body ? JSON.stringify(body) : undefined,
          });
        } catch (error) {
          if (error.name === 'AbortError') throw error;
          throw new Problem(0, 'The inspector does not answer. Is "garage serve" still running?');
        }
        if (response.ok) return response;
        let message = 'The inspector refused with ' + response.status + '.';
        try { message = (await response.json()).error; } catch (error) { /* It said nothing. */ }
        throw new Problem(response.status, message);
      }

      const get = async (path, parameters) => (await request('GET', path, parameters)).json();

      /** Addresses in this page: `#/place/part/part?name=value`. */
      const address = {
        of(place, ...parts) { return '#/' + [place, ...parts].map(encodeURIComponent).join('/'); },
        object(target) { return this.of('object', target.type, target.key); },
        read() {
          const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
          try {
            const parts = path.split('/').map(decodeURIComponent);
            const parameters = new Map((query || '').split('&').filter(Boolean)
              .map((pair) => pair.split('=').map(decodeURIComponent)));
            return {place: parts[0], parts: parts.slice(1), parameters};
          } catch (error) { return {place: 'nowhere', parts: [], parameters: new Map()}; }
        },
        /** Notes parameters in the address without going anywhere. */
        note(parameters) {
          const query = Object.entries(parameters).filter(([, value]) => value)
            .map(([name, value]) => encodeURIComponent(name) + '=' + encodeURIComponent(value)).join('&');
          history.replaceState(null, '', location.hash.split('?')[0] + (query ? '?' + query : ''));
        },
      };
      """#

    /// The frame: where the page is, what people are asked, and what comes unasked.
    private static let shell = #"""
      const store = {isWritable: false, types: []};
      let view = null;
      let visit = 0;

      function problem(error) {
        return el('p', {class: 'problem', role: 'alert'}, error.message);
      }

      /** Asks for the token where there is none, or a wrong one. */
      function askForToken(message) {
        const input = el('input', {id: 'token', autocomplete: 'off', spellcheck: 'false', required: true});
        const form = el('form', {onsubmit: (event) => {
          event.preventDefault();
          sessionStorage.setItem('token', input.value.trim().replace(/^.*token=/, ''));
          token.value = sessionStorage.getItem('token');
          start();
        }}, el('p', {}, el('label', {for: 'token'}, 'Token, or the address that "garage serve" printed')), el('p', {}, input),
        el('p', {}, el('button', {class: 'main'}, 'Open')));
        byId('main').replaceChildren(el('h1', {}, 'Which token?'), el('p', {class: 'problem', role: 'alert'}, message), form);
        input.focus();
      }

      async function showStore() {
        Object.assign(store, await get('store'));
        if (live.version === null) live.version = store.version;
        byId('store').textContent = store.path;
        byId('mode').textContent = store.isWritable ? 'may be changed' : 'read only';
        const chosen = address.read();
        byId('types').replaceChildren(el('ul', {}, store.types.map((type) => el('li', {},
          el('a', {
            href: address.of('type', type.type), title: type.type,
            'aria-current': chosen.place === 'type' && chosen.parts[0] === type.type && 'page',
          }, el('bdi', {}, shortType(type.type)), el('span', {class: 'number'}, count(type.objects)))))));
      }

      const places = {
        '': typesView, type: typeView, object: objectView, graph: graphView, keys: keysView,
        statistics: statisticsView, verification: verificationView,
      };

      /** Shows what the address names. */
      async function show() {
        const number = ++visit;
        const {place, parts, parameters} = address.read();
        const isHere = () => number === visit;
        for (const link of document.querySelectorAll('#places a')) {
          if (link.getAttribute('href') === '#/' + place) link.setAttribute('aria-current', 'page');
          else link.removeAttribute('aria-current');
        }
        for (const link of document.querySelectorAll('#types a')) {
          if (place === 'type' && link.title === parts[0]) link.setAttribute('aria-current', 'page');
          else link.removeAttribute('aria-current');
        }
        const main = byId('main');
        const make = Object.hasOwn(places, place) && places[place];
        let next;
        try {
          if (!make) throw new Problem(404, 'There is no such place.');
          main.setAttribute('aria-busy', 'true');
          next = await make(parts, parameters, isHere);
        } catch (error) {
          if (error.status === 401) return askForToken(error.message);
          next = {title: 'Not to be seen', content: [problem(error)]};
        }
        if (!isHere()) return;
        main.removeAttribute('aria-busy');
        view = next;
        document.title = next.title + ' – Garage inspector';
        const heading = el('h1', {tabindex: '-1'}, el('bdi', {}, next.title));
        main.replaceChildren(heading, ...next.content);
        main.scrollTop = 0;
        heading.focus({preventScroll: true});
        if (next.shown) next.shown();
      }

      /** Listens for changes, and shows them: those of this page and of all other programs. */
      const live = {
        version: null, controller: null, isRefreshing: false, isStale: false,

        say(text) { if (byId('live').textContent !== text) byId('live').textContent = text; },

        async listen() {
          if (this.controller) return;
          const controller = this.controller = new AbortController();
          while (!controller.signal.aborted) {
            try {
              const response = await request('GET', 'changes', {}, null, controller.signal);
              this.say('Live');
              const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
              let text = '';
              for (;;) {
                const {value, done} = await reader.read();
                if (done) break;
                const lines = (text + value).split('\n');
                text = lines.pop();
                for (const line of lines) if (line.startsWith('data: ')) this.hear(Number(line.slice(6)));
              }
            } catch (error) {
              if (controller.signal.aborted) return;
              if (error.status === 401) { this.controller = null; return; }
            }
            this.say('Not connected');
            this.version = -1;
            await new Promise((resolve) => setTimeout(resolve, 1000));
          }
        },

        hear(version) {
          if (version === this.version) return;
          this.version = version;
          this.refresh();
        },

        /** Looks again, never twice at once, and with a pause that grows with what a look costs. */
        async refresh() {
          this.isStale = true;
          if (this.isRefreshing || byId('dialog').open) return;
          this.isRefreshing = true;
          while (this.isStale && !byId('dialog').open) {
            this.isStale = false;
            const start = performance.now();
            try {
              await showStore();
              if (view && view.refresh) await view.refresh();
              this.say('Live, changed at ' + new Date().toLocaleTimeString('en-GB'));
            } catch (error) { this.say(error.message); }
            await new Promise((resolve) => setTimeout(resolve, Math.max(200, 2 * (performance.now() - start))));
          }
          this.isRefreshing = false;
        },

        rest() {
          if (this.controller) this.controller.abort();
          this.controller = null;
        },
      };

      /** Asks something; the answer is what `act` makes of it, which may refuse. */
      function ask(title, content, verb, act) {
        const dialog = byId('dialog');
        const refusal = el('div', {});
        const close = () => dialog.close();
        const form = el('form', {onsubmit: async (event) => {
          event.preventDefault();
          try {
            await act();
            close();
          } catch (error) { refusal.replaceChildren(problem(error)); }
        }}, el('h2', {id: 'dialog-title'}, title), content, refusal,
        el('div', {class: 'bar'}, el('button', {class: 'main', type: 'submit'}, verb),
          el('button', {type: 'button', class: 'cancel', onclick: close}, 'Cancel')));
        dialog.replaceChildren(form);
        dialog.onclose = () => {
          dialog.replaceChildren();
          if (live.isStale) live.refresh();
        };
        dialog.showModal();
        return dialog;
      }

      async function start() {
        token.take();
        try {
          if (!token.value) throw new Problem(401, 'The address has no token in it.');
          await showStore();
        } catch (error) {
          if (error.status === 401) return askForToken(error.message);
          return byId('main').replaceChildren(el('h1', {}, 'Not to be seen'), problem(error));
        }
        live.listen();
        await show();
      }

      window.addEventListener('hashchange', () => {
        if (location.hash.startsWith('#token=')) start(); else show();
      });
      document.addEventListener('visibilitychange', () => {
        // A browser has six connections to a server: a page that nobody sees needs none.
        if (document.hidden) live.rest();
        else if (token.value) { live.version = -1; live.listen(); }
      });
      document.addEventListener('DOMContentLoaded', () => {
        byId('skip').addEventListener('click', () => byId('main').focus());
        start();
      });
      """#
  }
#endif

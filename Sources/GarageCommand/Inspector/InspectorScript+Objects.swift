#if Command && Inspector
  extension InspectorScript {
    /// Values as trees.
    static let values = #"""
      /** The link that a reference is. */
      function link(target, text) {
        return el('a', {href: address.object(target), class: 'reference'},
          '→ ' + shortType(target.type) + ' ', el('bdi', {}, text === undefined ? target.id : text));
      }

      /** A leaf, as it is. */
      function leaf(value) {
        const text = value.text === undefined ? '' : value.text;
        if (value.kind === 'reference') {
          return el('span', {}, link(value.target), el('span', {class: 'kind'}, ' (' + text + ')'));
        }
        if (value.kind === 'data') {
          return el('span', {class: 'value data'}, counted(value.count, 'byte') + (text ? ': ' + text : '')
            + (text.length < 2 * value.count ? '…' : ''));
        }
        if (value.kind === 'string' && text === '') return el('span', {class: 'kind'}, 'empty text');
        return el('span', {class: 'value ' + value.kind}, text, value.count ? '… (' + counted(value.count, 'character') + ')' : '');
      }

      const editable = ['bool', 'integer', 'float', 'double', 'decimal', 'date', 'uuid', 'string'];

      /** A value as list items below one another. `edit` is told the path of a leaf that is to be changed. */
      function tree(value, edit) {
        const top = item(null, value, [], edit);
        return el('ul', {class: 'tree'}, value.fields ? value.fields.map((field) => item(field.key, field.value, [field.key], edit)) : top);
      }

      function item(key, value, path, edit) {
        const name = key === null ? null : el('bdi', {class: 'key'}, String(key));
        if (value.inner) {
          const inside = item(key, value.inner[0], path, edit);
          const note = value.kind === 'version' ? '(version ' + value.text + ')' : '(' + value.text + ')';
          inside.append(el('span', {class: 'kind'}, ' ' + note));
          return inside;
        }
        const children = value.fields || value.elements;
        if (!children) {
          const canEdit = edit && editable.includes(value.kind) && !value.count;
          return el('li', {}, name, leaf(value), canEdit && [' ', el('button', {
            class: 'small', type: 'button', 'aria-label': 'Change ' + path.join('.'), onclick: () => edit(path, value),
          }, 'Change')]);
        }
        const what = value.fields ? 'field' : 'element';
        const total = value.count || children.length;
        if (!total) return el('li', {}, name, el('span', {class: 'kind'}, 'no ' + what + 's'));
        const items = children.map((child, place) => value.fields
          ? item(child.key, child.value, [...path, child.key], edit) : item(place, child, [...path, place], edit));
        const rest = total > children.length && el('li', {class: 'quiet'}, 'and ' + count(total - children.length) + ' more');
        return el('li', {}, el('details', {open: children.length <= 50},
          el('summary', {}, name, el('span', {class: 'kind'}, counted(total, what))), el('ul', {}, items, rest)));
      }
      """#

    /// One object.
    static let objects = #"""
      /** How a request names an object: by the bytes of its identifier, or behind an equals sign by its text. */
      function named(type, key) { return key.startsWith('=') ? {type, id: key.slice(1)} : {type, key}; }

      async function objectView([type, key]) {
        const name = named(type, key);
        const object = await get('object', name);
        const facts = el('dl', {});
        const content = el('div', {});
        const referrers = el('div', {}, el('p', {class: 'quiet'}, 'Looking…'));
        let last = '';

        function showObject(object) {
          const text = JSON.stringify(object);
          if (text === last) return;
          last = text;
          const fact = (name, value) => value !== undefined && [el('dt', {}, name), el('dd', {}, value)];
          facts.replaceChildren(...[
            fact('Type', el('a', {href: address.of('type', type)}, el('bdi', {}, type))),
            fact('Class', object.ownType && el('bdi', {}, object.ownType)),
            fact('Identifier', el('bdi', {}, object.id)), fact('Parked', moment(object.modified)),
            fact('Size', counted(object.bytes, 'byte')), fact('Sync status', object.syncStatus),
            fact('Version', object.version),
          ].flat().filter(Boolean));
          const focused = document.activeElement && content.contains(document.activeElement)
            && document.activeElement.getAttribute('aria-label');
          content.replaceChildren(tree(object.value, store.isWritable && change));
          if (focused) for (const button of content.querySelectorAll('button')) {
            if (button.getAttribute('aria-label') === focused) button.focus();
          }
        }

        async function showReferrers() {
          try {
            const around = await get('neighbours', name);
            referrers.replaceChildren(around.referrerCount === 0 ? el('p', {class: 'quiet'}, 'Nobody.')
              : el('ul', {}, around.referrers.map((one) => el('li', {}, link(one.object),
                el('span', {class: 'kind'}, ' (' + one.kinds.join(', ') + ')'))),
              around.referrerCount > around.referrers.length
                && el('li', {class: 'quiet'}, 'and ' + count(around.referrerCount - around.referrers.length) + ' more')));
          } catch (error) { referrers.replaceChildren(problem(error)); }
        }

        function change(path, value) {
          const isLong = value.kind === 'string';
          const input = isLong ? el('textarea', {id: 'new-value'}) : el('input', {id: 'new-value', autocomplete: 'off'});
          input.value = value.text;
          ask('Change ' + path.join('.') + ' of ' + shortType(type) + ' “' + object.id + '”?', [
            el('p', {}, el('label', {for: 'new-value'}, 'New value, of kind ' + value.kind)), el('p', {}, input),
          ], 'Change', () => request('PATCH', 'object', name, {path, before: value.text, kind: value.kind, text: input.value}));
          input.focus();
        }

        async function remove() {
          let who = 'Who refers to it could not be found out.';
          try {
            const around = await get('neighbours', name);
            who = around.referrerCount ? counted(around.referrerCount, 'object') + ' refer'
              + (around.referrerCount === 1 ? 's' : '') + ' to it, and will lead to nothing.' : 'Nobody refers to it.';
          } catch (error) { /* It is asked all the same. */ }
          ask('Delete ' + shortType(type) + ' “' + object.id + '”?', el('p', {}, who + ' It cannot be brought back.'), 'Delete',
            async () => {
              await request('DELETE', 'object', name);
              location.hash = address.of('type', type);
            }).querySelector('.cancel').focus();
        }

        showObject(object);
        return {
          title: shortType(type) + ' ' + object.id,
          content: [
            facts,
            el('p', {class: 'bar'}, el('a', {href: address.of('graph', type, key)}, 'Show the graph around it'),
              store.isWritable && el('button', {type: 'button', onclick: remove}, 'Delete')),
            el('h2', {}, 'Fields'), content, el('h2', {}, 'Referred to by'), referrers,
          ],
          shown: showReferrers,
          async refresh() {
            try { showObject(await get('object', name)); } catch (error) {
              last = '';
              content.replaceChildren(problem(error));
            }
            await showReferrers();
          },
        };
      }
      """#

    /// The objects of a type, as rows of a grid. The browser has only those rows that are visible.
    static let grid = #"""
      const rowHeight = 30;
      const pageSize = 100;
      // Browsers have no elements that are higher.
      const maximumRows = 1000000;

      class Grid {
        constructor(type, choice, say) {
          this.type = type;
          this.choice = choice;
          this.say = say;
          this.total = 0;
          this.columns = [];
          this.pages = new Map();
          this.rows = new Map();
          this.active = 0;
          this.generation = 0;
          this.head = el('div', {class: 'row', role: 'row', 'aria-rowindex': 1});
          this.body = el('div', {class: 'body', role: 'rowgroup'});
          this.element = el('div', {class: 'grid', role: 'grid', 'aria-label': 'Objects of ' + type,
            onscroll: () => this.draw(), onkeydown: (event) => this.press(event)},
          el('div', {class: 'head', role: 'rowgroup'}, this.head), this.body);
          new ResizeObserver(() => this.draw()).observe(this.element);
        }

        /** Asks anew; what is seen stays until the answer is there. */
        async load() {
          const generation = ++this.generation;
          const first = Math.floor(this.element.scrollTop / rowHeight / pageSize);
          const page = await this.page(first);
          if (generation !== this.generation) return;
          this.pages = new Map([[first, page]]);
          this.total = page.total;
          this.note(page);
          const isCut = page.total > maximumRows;
          this.say(counted(page.total, 'object') + (this.choice.filter ? ' found' : '')
            + (page.unreadable ? ', ' + count(page.unreadable) + ' cannot be read' : '')
            + (isCut ? '. The first ' + count(maximumRows) + ' are listed: filter for the others.' : ''));
          this.body.style.height = Math.min(this.total, maximumRows) * rowHeight + 'px';
          this.element.setAttribute('aria-rowcount', this.total + 1);
          this.active = Math.min(this.active, Math.max(0, this.total - 1));
          for (const [number, row] of this.rows) {
            if (number >= this.total) { row.remove(); this.rows.delete(number); } else this.complete(number, row);
          }
          this.draw();
        }

        page(number) {
          return get('objects', {type: this.type, offset: number * pageSize, limit: pageSize, ...this.choice});
        }

        note(page) {
          const before = this.columns.length;
          for (const name of [...page.columns, ...page.rows.flatMap((row) => Object.keys(row.cells))]) {
            if (!this.columns.includes(name)) this.columns.push(name);
          }
          if (this.columns.length !== before || !this.head.hasChildNodes()) this.drawHead();
        }

        drawHead() {
          const all = [['$id', 'Identifier'], ...this.columns.map((name) => [name, name]), ['$bytes', 'Bytes'], ['$modified', 'Parked']];
          this.element.style.setProperty('--columns', ['11rem', ...this.columns.map(() => '11rem'), '6rem', '15rem'].join(' '));
          this.element.setAttribute('aria-colcount', all.length);
          this.head.replaceChildren(...all.map(([field, name]) => {
            const isSorted = (this.choice.sort || '$id') === field;
            const arrow = isSorted ? (this.choice.descending ? ' ▼' : ' ▲') : '';
            return el('div', {role: 'columnheader', class: 'cell',
              'aria-sort': isSorted ? (this.choice.descending ? 'descending' : 'ascending') : 'none'},
            el('button', {type: 'button', title: 'Sort by ' + name, onclick: () => this.sort(field)},
              el('bdi', {}, name), el('span', {'aria-hidden': 'true'}, arrow)));
          }));
        }

        async sort(field) {
          const isSame = (this.choice.sort || '$id') === field;
          this.choice.descending = isSame && !this.choice.descending ? 'true' : '';
          this.choice.sort = field === '$id' ? '' : field;
          const focused = [...this.head.children].findIndex((cell) => cell.contains(document.activeElement));
          this.drawHead();
          this.element.scrollTop = 0;
          this.activate(0);
          if (focused >= 0) this.head.children[focused].firstChild.focus();
          await this.renew();
        }

        async renew() {
          address.note(this.choice);
          try { await this.load(); } catch (error) { this.say(error.message, true); }
        }

        /** Makes the rows that are seen, and takes away the others. */
        draw() {
          const shown = Math.min(this.total, maximumRows);
          const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - 8);
          const end = Math.min(shown, first + Math.ceil(this.element.clientHeight / rowHeight) + 16);
          for (const [number, row] of this.rows) {
            if ((number < first || number >= end) && number !== this.active) { row.remove(); this.rows.delete(number); }
          }
          for (let number = first; number < end; number++) this.makeRow(number);
          if (shown) this.makeRow(this.active);
        }

        makeRow(number) {
          if (this.rows.has(number)) return;
          const row = el('div', {class: 'row', role: 'row', 'aria-rowindex': number + 2,
            tabindex: number === this.active ? 0 : -1, onfocus: () => this.activate(number)},
          el('div', {class: 'cell', role: 'gridcell'}, '…'));
          row.style.top = number * rowHeight + 'px';
          this.rows.set(number, row);
          // In their order, as those hear them who do not see.
          const next = [...this.body.children].find((other) => Number(other.getAttribute('aria-rowindex')) > number + 2);
          this.body.insertBefore(row, next || null);
          this.complete(number, row);
        }

        /** Fills a row, when its page is there. */
        async complete(number, row) {
          const place = Math.floor(number / pageSize);
          const generation = this.generation;
          if (!this.pages.has(place)) {
            this.pages.set(place, this.page(place).then((page) => { this.note(page); return page; }));
          }
          let content;
          try { content = (await this.pages.get(place)).rows[number % pageSize]; } catch (error) {
            this.pages.delete(place);
            return;
          }
          if (generation !== this.generation || !content || this.rows.get(number) !== row) return;
          row.content = content;
          const cell = (...children) => el('div', {class: 'cell', role: 'gridcell'}, children);
          const cells = content.error ? [cell(el('span', {class: 'problem'}, content.error))] : [
            ...this.columns.map((name) => cell(Object.hasOwn(content.cells, name) && leaf(content.cells[name]))),
            cell(count(content.bytes)), cell(moment(content.modified)),
          ];
          const isFocused = row.contains(document.activeElement) && document.activeElement !== row;
          row.replaceChildren(cell(el('a', {href: this.addressOf(content), tabindex: -1},
            el('bdi', {}, content.id), content.ownType && ' (' + shortType(content.ownType) + ')')), ...cells);
          for (const link of row.querySelectorAll('a')) link.tabIndex = -1;
          if (isFocused) row.focus();
        }

        addressOf(content) { return address.object({type: this.type, key: content.key}); }

        activate(number) {
          if (number === this.active) return;
          const before = this.rows.get(this.active);
          if (before) before.tabIndex = -1;
          this.active = number;
          const row = this.rows.get(number);
          if (row) row.tabIndex = 0;
        }

        press(event) {
          if (!this.body.contains(event.target)) return;
          const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 2);
          const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
          if (event.key === 'Enter' && event.target.getAttribute('role') === 'row') {
            const row = this.rows.get(this.active);
            if (row && row.content) location.hash = this.addressOf(row.content);
          } else if (steps[event.key]) {
            const last = Math.min(this.total, maximumRows) - 1;
            this.go(Math.max(0, Math.min(last, this.active + steps[event.key])));
          } else return;
          event.preventDefault();
        }

        go(number) {
          this.makeRow(number);
          this.activate(number);
          const top = number * rowHeight;
          const height = this.element.clientHeight - rowHeight - 2;
          if (top < this.element.scrollTop) this.element.scrollTop = top;
          if (top + rowHeight > this.element.scrollTop + height) this.element.scrollTop = top + rowHeight - height;
          this.draw();
          this.rows.get(number).focus({preventScroll: true});
        }
      }

      async function typeView([type], parameters) {
        const choice = {filter: parameters.get('filter') || '', sort: parameters.get('sort') || '',
          descending: parameters.get('descending') || ''};
        const status = el('p', {role: 'status', class: 'quiet'});
        const say = (text, isProblem) => {
          status.textContent = text;
          status.className = isProblem ? 'problem' : 'quiet';
        };
        const grid = new Grid(type, choice, say);
        const input = el('input', {id: 'filter', value: choice.filter, autocomplete: 'off', spellcheck: 'false',
          placeholder: 'age >= 18 and name starts with "A"'});
        const form = el('form', {class: 'bar', role: 'search', onsubmit: (event) => {
          event.preventDefault();
          choice.filter = input.value.trim();
          grid.element.scrollTop = 0;
          grid.active = 0;
          grid.renew();
        }}, el('label', {for: 'filter'}, 'Filter', input), el('button', {class: 'main'}, 'Find'),
        el('button', {type: 'button', onclick: () => { input.value = ''; form.requestSubmit(); }}, 'All'));
        try { await grid.load(); } catch (error) {
          if (!choice.filter || error.status !== 400) throw error;
          say(error.message, true);
        }
        return {
          title: type, content: [form, status, grid.element], shown: () => grid.draw(),
          refresh: () => grid.load().catch((error) => say(error.message, true)),
        };
      }
      """#
  }
#endif

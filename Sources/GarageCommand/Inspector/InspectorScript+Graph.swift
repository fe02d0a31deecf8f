#if Command && Inspector
  extension InspectorScript {
    /// The references around an object.
    static let graph = #"""
      const box = {width: 210, height: 34, gap: 90, step: 50};
      // How many are drawn on each side of a node: nobody sees more.
      const neighbourLimit = 30;

      class Graph {
        constructor(start) {
          this.start = start;
          this.nodes = new Map();
          this.edges = new Map();
          this.drawing = el('div', {class: 'graph', role: 'region', 'aria-label': 'Drawing of the graph', tabindex: 0});
          this.status = el('p', {role: 'status', class: 'quiet'});
          this.list = el('tbody', {});
        }

        static id(object) { return object.type + '\n' + object.key; }

        add(object, column, exists) {
          const id = Graph.id(object);
          if (!this.nodes.has(id)) this.nodes.set(id, {id, object, column, exists, isGrown: false, hidden: 0});
          const node = this.nodes.get(id);
          node.exists = exists;
          return node;
        }

        connect(from, to, kinds) { this.edges.set(from.id + '\n\n' + to.id, {from, to, kinds}); }

        /** Adds what is around an object, or looks at it again. */
        async grow(object, column) {
          const around = await get('neighbours', {type: object.type, key: object.key});
          const node = this.add(around.object, column, true);
          for (const [key, edge] of this.edges) if (edge.from === node || edge.to === node) this.edges.delete(key);
          const targets = around.targets.slice(0, neighbourLimit);
          const referrers = around.referrers.slice(0, neighbourLimit);
          for (const one of targets) this.connect(node, this.add(one.object, node.column + 1, one.exists), one.kinds);
          for (const one of referrers) this.connect(this.add(one.object, node.column - 1, true), node, one.kinds);
          node.isGrown = true;
          node.hidden = around.targetCount - targets.length + around.referrerCount - referrers.length;
        }

        /** Looks again at all that was looked at; what nothing leads to any more goes. */
        async renew() {
          for (const node of [...this.nodes.values()].filter((node) => node.isGrown)) {
            try { await this.grow(node.object, node.column); } catch (error) {
              if (error.status !== 404) throw error;
              node.exists = false;
              for (const [key, edge] of this.edges) if (edge.from === node) this.edges.delete(key);
            }
          }
          const used = new Set([...this.edges.values()].flatMap((edge) => [edge.from, edge.to]));
          for (const node of [...this.nodes.values()]) {
            if (!used.has(node) && node.id !== Graph.id(this.start)) this.nodes.delete(node.id);
          }
          this.draw();
        }

        /** Numbers the nodes so that those have the same number that lead to one another (Tarjan). */
        groups() {
          const targets = new Map([...this.nodes.values()].map((node) => [node, []]));
          for (const edge of this.edges.values()) targets.get(edge.from).push(edge.to);
          const index = new Map();
          const low = new Map();
          const group = new Map();
          const stack = [];
          let groupCount = 0;
          for (const root of this.nodes.values()) {
            if (index.has(root)) continue;
            const work = [[root, 0]];
            while (work.length) {
              const frame = work[work.length - 1];
              const [node, next] = frame;
              if (next === 0) {
                index.set(node, index.size);
                low.set(node, index.get(node));
                stack.push(node);
              }
              if (next < targets.get(node).length) {
                frame[1]++;
                const target = targets.get(node)[next];
                if (!index.has(target)) work.push([target, 0]);
                else if (!group.has(target)) low.set(node, Math.min(low.get(node), index.get(target)));
                continue;
              }
              work.pop();
              if (work.length) {
                const above = work[work.length - 1][0];
                low.set(above, Math.min(low.get(above), low.get(node)));
              }
              if (low.get(node) === index.get(node)) {
                let last;
                do {
                  last = stack.pop();
                  group.set(last, groupCount);
                } while (last !== node);
                groupCount++;
              }
            }
          }
          return group;
        }

        draw() {
          const group = this.groups();
          const isCycle = (edge) => group.get(edge.from) === group.get(edge.to);
          const first = Math.min(...[...this.nodes.values()].map((node) => node.column));
          const rows = new Map();
          for (const node of this.nodes.values()) {
            const row = rows.get(node.column) || 0;
            rows.set(node.column, row + 1);
            node.x = 20 + (node.column - first) * (box.width + box.gap);
            node.y = 20 + row * box.step;
          }
          const width = 40 + rows.size * (box.width + box.gap);
          const height = 70 + Math.max(...rows.values()) * box.step;
          const edges = [...this.edges.values()];
          const lines = edges.map((edge) => svg('path', {
            d: this.path(edge), 'marker-end': 'url(#arrow)',
            class: (edge.kinds.every((kind) => kind === 'lazy') ? 'lazy' : '') + (isCycle(edge) ? ' cycle' : ''),
          }));
          const focused = document.activeElement && document.activeElement.getAttribute('data-node');
          this.drawing.replaceChildren(svg('svg', {width, height, viewBox: '0 0 ' + width + ' ' + height, role: 'group',
            'aria-label': 'Reference graph'},
          svg('defs', {}, svg('marker', {id: 'arrow', markerWidth: 9, markerHeight: 9, refX: 8, refY: 4.5, orient: 'auto',
            markerUnits: 'userSpaceOnUse'}, svg('path', {d: 'M0 0 L9 4.5 L0 9 z'}))),
          lines, [...this.nodes.values()].map((node) => this.box(node))));
          if (focused) for (const one of this.drawing.querySelectorAll('[data-node]')) {
            if (one.getAttribute('data-node') === focused) one.focus();
          }
          this.list.replaceChildren(...edges.map((edge) => el('tr', {}, el('td', {}, link(edge.from.object)),
            el('td', {}, link(edge.to.object)), el('td', {}, edge.kinds.join(', ')),
            el('td', {}, isCycle(edge) ? 'in a cycle' : ''))));
          const hidden = [...this.nodes.values()].reduce((sum, node) => sum + node.hidden, 0);
          const cycles = new Set(edges.filter(isCycle).map((edge) => group.get(edge.from)));
          this.status.textContent = counted(this.nodes.size, 'object') + ', ' + counted(edges.length, 'reference') + ', '
            + (cycles.size ? counted(cycles.size, 'cycle') : 'no cycle') + (hidden ? ', and ' + count(hidden) + ' more that are not drawn' : '')
            + '. A click on an object shows what is around it.';
        }

        path({from, to}) {
          const [x1, y1] = [from.x + box.width, from.y + box.height / 2];
          if (to.column > from.column) {
            const [x2, y2] = [to.x, to.y + box.height / 2];
            return 'M' + [x1, y1] + ' C' + [x1 + 45, y1] + ' ' + [x2 - 45, y2] + ' ' + [x2, y2];
          }
          if (to.column === from.column) {
            const [x2, y2] = [to.x + box.width, to.y + box.height / 2 + (to === from ? 9 : 0)];
            return 'M' + [x1, y1 - (to === from ? 9 : 0)] + ' C' + [x1 + 55, y1 - 9] + ' ' + [x2 + 55, y2] + ' ' + [x2, y2];
          }
          // Back, below the boxes.
          const [a, b] = [from.x + box.width / 2, to.x + box.width / 2];
          const [c, d] = [from.y + box.height, to.y + box.height];
          const low = Math.max(c, d) + 26;
          return 'M' + [a, c] + ' C' + [a, low] + ' ' + [b, low] + ' ' + [b, d];
        }

        box(node) {
          const name = shortType(node.object.type) + ' ' + node.object.id;
          const short = name.length > 24 ? name.slice(0, 23) + '…' : name;
          const press = (event) => {
            if (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            this.grow(node.object, node.column).then(() => this.draw(), (error) => { this.status.textContent = error.message; });
          };
          const note = node.exists ? (node.isGrown ? '' : ', shows what is around it') : ', which is not there';
          const box_ = svg('g', {class: 'grow', role: 'button', tabindex: 0, 'aria-label': name + note, 'data-node': node.id,
            onclick: press, onkeydown: press},
          svg('rect', {x: node.x, y: node.y, width: box.width, height: box.height, rx: 5}),
          svg('text', {x: node.x + 10, y: node.y + 22}, short),
          node.hidden > 0 && svg('text', {x: node.x + 10, y: node.y + box.height + 14, class: 'more'}, 'and ' + count(node.hidden) + ' more'),
          svg('title', {}, name + (node.hidden ? ', and ' + count(node.hidden) + ' more around it' : '')));
          const open = node.exists && svg('a', {href: address.object(node.object), 'aria-label': 'Open ' + name},
            svg('text', {x: node.x + box.width - 22, y: node.y + 22}, '↗'));
          const isStart = node.id === Graph.id(this.start);
          return svg('g', {class: (isStart ? 'start ' : '') + (node.exists ? '' : 'missing ') + (node.isGrown ? 'grown' : '')}, box_, open);
        }
      }

      async function graphView([type, key]) {
        const {object} = await get('neighbours', named(type, key));
        const graph = new Graph(object);
        await graph.grow(object, 0);
        graph.draw();
        return {
          title: 'Graph around ' + shortType(type) + ' ' + object.id,
          content: [
            graph.status, graph.drawing,
            el('details', {}, el('summary', {}, 'The same as a list'), el('table', {}, el('thead', {}, el('tr', {},
              ['From', 'To', 'Kind', 'Cycle'].map((name) => el('th', {scope: 'col'}, name)))), graph.list)),
          ],
          refresh: () => graph.renew(),
        };
      }
      """#

    /// Types, keys, statistics and findings.
    static let care = #"""
      function table(heads, rows) {
        const cells = (kind, row) => row.map((value, place) => el(kind, {
          scope: kind === 'th' && 'col', class: heads[place].startsWith('#') && 'number'}, value));
        return el('table', {}, el('thead', {}, el('tr', {}, cells('th', heads.map((name) => name.replace('#', ''))))),
          el('tbody', {}, rows.map((row) => el('tr', {}, cells('td', row)))));
      }

      const typeLink = (type) => el('a', {href: address.of('type', type)}, el('bdi', {}, type));

      async function typesView() {
        const content = el('div', {});
        function draw() {
          const total = store.types.reduce((sum, type) => sum + type.objects, 0);
          content.replaceChildren(
            el('p', {class: 'quiet'}, counted(total, 'object') + ', ' + counted(store.keys, 'typed key') + ', '
              + counted(store.bytes, 'byte') + ' on the disk'),
            store.types.length ? table(['Type', '#Objects', '#Bytes'],
              store.types.map((type) => [typeLink(type.type), count(type.objects), count(type.bytes)]))
              : el('p', {}, 'There are no objects.'));
        }
        draw();
        return {title: 'Types', content: [content], refresh: draw};
      }

      async function keysView() {
        const content = el('div', {});
        async function draw() {
          const keys = await get('keys');
          content.replaceChildren(keys.length ? table(['Key', '#Bytes', 'Value'], keys.map((key) => [
            el('bdi', {}, key.key), key.error ? '' : count(key.bytes),
            key.error ? el('span', {class: 'problem'}, key.error) : tree(key.value)])) : el('p', {}, 'There are no typed keys.'));
        }
        await draw();
        return {title: 'Keys', content: [content], refresh: draw};
      }

      /** What goes through the whole store, and so not by itself after each change. */
      function lookOnce(title, waiting, look) {
        const note = el('p', {role: 'status', class: 'quiet'});
        const content = el('div', {});
        const again = el('button', {type: 'button', onclick: () => run()}, 'Look again');
        async function run() {
          again.disabled = true;
          note.textContent = waiting;
          try { content.replaceChildren(...await look()); } catch (error) { content.replaceChildren(problem(error)); }
          note.textContent = 'As of ' + new Date().toLocaleTimeString('en-GB') + '.';
          again.disabled = false;
        }
        return {
          title, content: [el('div', {class: 'bar'}, again, note), content], shown: run,
          refresh: () => { if (!again.disabled) note.textContent = 'The store was changed since.'; },
        };
      }

      async function statisticsView() {
        return lookOnce('Statistics', 'Counting…', async () => {
          const all = await get('statistics');
          const sum = (counts) => Object.values(counts).reduce((total, number) => total + number, 0);
          return [
            el('p', {}, counted(all.objects, 'object') + ', ' + counted(all.keys, 'typed key') + ' with '
              + counted(all.keyBytes, 'byte') + ', ' + counted(all.otherBytes, 'byte') + ' beside'),
            table(['Type', '#Objects', '#Bytes', '#Largest', 'Which', '#Refers', '#Is referred to', '#Damaged'],
              all.types.map((type) => [typeLink(type.type), count(type.objects), count(type.bytes), count(type.largestBytes),
                el('a', {href: address.of('object', type.type, '=' + type.largest)}, el('bdi', {}, type.largest)),
                count(sum(type.referencesOut)), count(type.referencesIn), count(type.damaged)])),
          ];
        });
      }

      async function verificationView() {
        return lookOnce('Verification', 'Reading every byte…', async () => {
          const report = await get('verification');
          const head = counted(report.objects, 'object') + ' and ' + counted(report.keys, 'key') + ', ' + counted(report.bytes, 'byte')
            + ': ' + (report.findingCount ? counted(report.findingCount, 'finding') : 'all is sound');
          const rows = report.findings.slice(0, 1000).map((finding) => [finding.severity, finding.place,
            finding.type && finding.id ? el('a', {href: address.of('object', finding.type, '=' + finding.id)},
              el('bdi', {}, finding.type + ' ' + finding.id)) : finding.type || '', finding.path || '', finding.message]);
          return [
            el('p', {class: report.isSound ? '' : 'problem'}, head),
            rows.length ? table(['Severity', 'In', 'Object', 'At', 'What and what to do'], rows) : null,
            report.findingCount > rows.length ? el('p', {}, 'and ' + count(report.findingCount - rows.length) + ' more') : null,
          ].filter(Boolean);
        });
      }
      """#
  }
#endif

/* Brings the live figures of a chapter to life in the static page: no kernel, no CDN, no require.js.

   myst-nb leaves two kinds of script tags in a page: one with the state of all widgets of the chapter, and one
   in each place where a widget was displayed. An anywidget carries its own code in that state (`_esm`), so all
   it needs is someone to import it and to play the kernel's model. That is this file.

   It is a classic script because a page opened from disk (file://) may not load module scripts. The widget
   modules themselves come from Blobs, which may be imported anywhere. */
(() => {
  const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
  const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';
  // Nothing is ever taken down here, but widgets may listen for it.
  const never = new AbortController().signal;
  const home = document.currentScript?.src || location.href; // beside what files lie

  /* State that the views of one widget share. Events and their arguments are those of Backbone, which
     anywidget promises its modules: "change:name" (model, value), then "change" (model). */
  class Model {
    #state;
    #listeners = new Set();
    #manager;

    constructor(state, manager) {
      this.#state = state;
      this.#manager = manager;
    }

    #set(changes) {
      // By content, not identity: setting what is there already must stay silent, or two views echo forever.
      const changed = Object.entries(changes).filter(
        ([name, value]) => JSON.stringify(this.#state[name]) !== JSON.stringify(value),
      );
      Object.assign(this.#state, Object.fromEntries(changed));
      for (const [name, value] of changed) this.#emit(`change:${name}`, value);
      if (changed.length) this.#emit("change");
    }

    #emit(event, ...value) {
      for (const listener of [...this.#listeners]) {
        if (listener.event === event) listener.callback(listener.seenAs, ...value);
      }
    }

    /** The model as one view may use it: what a view takes off was put on by that view. */
    face() {
      const mine = new Set();
      const face = {
        get: (name) => this.#state[name],
        set: (name, value) => this.#set(typeof name === "string" ? { [name]: value } : name),
        save_changes() {}, // set() has told the other views already, and there is no kernel to tell
        send() {},
        on: (events, callback) => {
          for (const event of events.split(/\s+/)) {
            const listener = { event, callback, seenAs: face };
            mine.add(listener);
            this.#listeners.add(listener);
          }
        },
        // Without a callback: all of that event; without an event: all.
        off: (events, callback) => {
          for (const listener of [...mine]) {
            if (events && !events.split(/\s+/).includes(listener.event)) continue;
            if (callback && callback !== listener.callback) continue;
            mine.delete(listener);
            this.#listeners.delete(listener);
          }
        },
        widget_manager: this.#manager,
      };
      return face;
    }
  }

  /* All widgets of the page. Each part is made once, however often it is displayed. */
  class Widgets {
    #records;
    #models = new Map(); // by widget id
    #modules = new Map(); // by source text
    #ready = new Map(); // by widget id: the module, once its initialize() has run
    #styles = new Set();

    constructor(records) {
      this.#records = records;
    }

    async mount(id, el) {
      const record = this.#records[id];
      if (!record) throw new Error("its state was not saved with the page");
      if (record.model_module !== "anywidget") {
        el.replaceWith(needsKernel());
        return;
      }
      if (record.buffers?.length) throw new Error("it holds binary data, which a static page does not carry");
      this.#style(record.state._css);
      const definition = await this.#initialised(id, record.state._esm);
      await definition.render?.({ model: this.#model(id).face(), el, signal: never, experimental });
      el.dataset.live = "true";
    }

    #model(id) {
      if (!this.#records[id]) throw new Error(`no state for widget ${id}`);
      if (!this.#models.has(id)) {
        const get_model = async (reference) => this.#model(reference.replace(/^IPY_MODEL_/, "")).face();
        this.#models.set(id, new Model(this.#records[id].state, { get_model }));
      }
      return this.#models.get(id);
    }

    #initialised(id, source) {
      const start = async () => {
        const definition = await this.#load(source);
        await definition.initialize?.({ model: this.#model(id).face(), signal: never, experimental });
        return definition;
      };
      if (!this.#ready.has(id)) this.#ready.set(id, start());
      return this.#ready.get(id);
    }

    async #load(source) {
      if (!this.#modules.has(source)) {
        const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
        this.#modules.set(source, import(url).finally(() => URL.revokeObjectURL(url)));
      }
      const { default: definition } = await this.#modules.get(source);
      // anywidget allows a factory in place of the definition, one call per widget
      return typeof definition === "function" ? definition() : definition;
    }

    #style(css) {
      if (!css || this.#styles.has(css)) return;
      this.#styles.add(css);
      const style = document.createElement("style");
      style.textContent = css;
      document.head.append(style);
    }
  }

  /* The one command that needs no Python: `invoke("load", "name.js")` hands over what a script beside this one holds.
     No page from the disk may read a file, but it may load a script, which says what it has by an event "source". */
  const experimental = {
    async invoke(command, name) {
      if (command !== "load") throw new Error("a static page has no kernel to answer");
      return [await beside(name), []];
    },
  };

  function beside(name) {
    if (!/^[\w-]+\.js$/.test(name)) throw new Error(`${name} is no name of a script`);
    const carrier = element("script");
    return new Promise((loaded, failed) => {
      carrier.addEventListener("source", ({ detail }) => loaded(detail));
      carrier.onload = () => failed(new Error(`${name} holds nothing that can be read`)); // unless it has said it by then
      carrier.onerror = () => failed(new Error(`there is no ${name} beside this page`));
      carrier.src = new URL(name, home);
      document.head.append(carrier);
    }).finally(() => carrier.remove());
  }

  /* In place of a control that only Python could answer: a sentence and the ways to a kernel. */
  function needsKernel() {
    const links = [...document.querySelectorAll("a[href]")].filter(({ hostname }) =>
      ["colab.research.google.com", "mybinder.org"].includes(hostname));
    const places = new Map(links.map((link) => [link.hostname.startsWith("colab") ? "Colab" : "Binder", link.href]));
    const text = element("p", "This control needs a running kernel: open this chapter in ");
    ["Colab", "Binder"].forEach((name, n) => {
      const place = places.has(name) ? element("a", name) : name;
      if (places.has(name)) place.href = places.get(name);
      text.append(n ? " or " : "", place);
    });
    text.append(".");
    return note(text);
  }

  function note(...children) {
    const box = element("div");
    box.className = "admonition note";
    const title = element("p", "Note");
    title.className = "admonition-title";
    box.append(title, ...children);
    return box;
  }

  function element(tag, text = "") {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  async function main() {
    const records = {};
    for (const tag of document.querySelectorAll(STATE)) {
      const { state, texts } = JSON.parse(tag.textContent);
      // The book keeps one copy of code that several figures share (website/live_figures.py).
      for (const record of Object.values(state)) {
        for (const name of ["_esm", "_css"]) {
          const stored = record.state[name];
          if (Array.isArray(stored)) record.state[name] = stored.map((n) => texts[n]).join("");
        }
      }
      Object.assign(records, state);
    }
    const widgets = new Widgets(records);
    for (const tag of document.querySelectorAll(VIEW)) {
      const el = element("div");
      tag.after(el);
      try {
        await widgets.mount(JSON.parse(tag.textContent).model_id, el);
      } catch (error) {
        // One figure that fails must not take the others with it, nor leave a hole where it should be.
        el.replaceWith(note(element("p", `This figure could not start: ${error.message ?? error}.`)));
        console.error(error);
      }
    }
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", main);
  else main();
})();

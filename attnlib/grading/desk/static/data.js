// What the page knows, and how it gets into the file: changes wait here until the desk has said that they are saved.

const token = location.hash.slice(1);
const listeners = { news: [], status: [], conflicts: [] };
const entries = new Map(); // what the file holds
const pending = new Map(); // what has still to be sent
let flying = new Map(); // what was sent, and is not answered yet
let timer = null;
let retry = null;

export const conflicts = new Map();
export const desk = { points: {}, states: {}, sequence: 0, lost: "", refused: "" };

export const on = (what, listener) => listeners[what].push(listener);
const tell = (what) => listeners[what].forEach((listener) => listener());

export async function ask(path, body) {
    const headers = { "X-Desk-Token": token };
    const how = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(path, how);
    const said = await response.json();
    if (!response.ok) throw Object.assign(new Error(said.error), { status: response.status });
    return said;
}

export async function load() {
    Object.assign(desk, await ask("class"));
    take(desk);
}

function take(news) {
    for (const [key, entry] of Object.entries(news.entries)) {
        if (!entries.has(key) || entries.get(key).at < entry.at) entries.set(key, entry);
    }
    if (news.sequence >= desk.sequence) {
        desk.sequence = news.sequence;
        desk.points = news.points;
        desk.states = news.states;
    }
}

// The value of an entry as this page wants it to be.
export function value(key) {
    return pending.get(key)?.value ?? flying.get(key)?.value ?? entries.get(key)?.value;
}

export function keysUnder(prefix) {
    const all = new Set([...entries.keys(), ...flying.keys(), ...pending.keys()]);
    return [...all].filter((key) => key.startsWith(prefix));
}

export const unsaved = () => pending.size + flying.size + conflicts.size;

// Change an entry; `wait` milliseconds for more of the same, as while somebody writes.
export function edit(key, changed, wait = 0) {
    const known = pending.get(key) ?? flying.get(key);
    // what is in flight will have a new revision, which its answer brings
    const seen = pending.has(key) ? known.seen : flying.has(key) ? null : (entries.get(key)?.revision ?? 0);
    pending.set(key, { seen, value: changed });
    desk.refused = "";
    tell("status");
    clearTimeout(timer);
    timer = setTimeout(flush, wait);
}

export async function flush() {
    clearTimeout(timer);
    if (flying.size || !pending.size) return;
    flying = new Map(pending);
    pending.clear();
    const changes = [...flying].map(([key, change]) => ({ key, ...change }));
    tell("status");
    try {
        const said = await ask("change", { since: desk.sequence, changes });
        take(said);
        for (const [key, entry] of Object.entries(said.saved)) {
            if (entry.revision) entries.set(key, entry);
            if (pending.has(key)) pending.get(key).seen = entry.revision;
        }
        for (const [key, theirs] of Object.entries(said.conflicts)) {
            entries.set(key, theirs);
            conflicts.set(key, { theirs, mine: pending.get(key)?.value ?? flying.get(key).value });
            pending.delete(key);
        }
        flying = new Map();
        desk.lost = "";
    } catch (error) {
        for (const [key, change] of flying) {
            if (error.status === 400 && !pending.has(key)) continue; // it would be refused again
            pending.set(key, { seen: change.seen, value: pending.get(key)?.value ?? change.value });
        }
        flying = new Map();
        if (error.status === 400) desk.refused = error.message;
        else desk.lost = error.status ? error.message : "the desk does not answer";
        clearTimeout(retry);
        if (error.status !== 400) retry = setTimeout(flush, 2000);
    }
    tell("status");
    tell("news");
    if (conflicts.size) tell("conflicts");
    if (pending.size && !desk.lost) flush();
}

export function settle(key, mine) {
    const { theirs, mine: wanted } = conflicts.get(key);
    conflicts.delete(key);
    if (mine) {
        pending.set(key, { seen: theirs.revision, value: wanted });
        flush();
    }
    tell("status");
    tell("news");
    tell("conflicts");
}

// Hear what others change, as long as the page is open.
export async function listen() {
    for (;;) {
        const before = desk.sequence;
        try {
            take(await ask(`news?since=${before}`));
            if (desk.lost && !pending.size) desk.lost = "";
            if (desk.lost) flush();
        } catch (error) {
            desk.lost = error.status ? error.message : "the desk does not answer";
            await new Promise((later) => setTimeout(later, 2000));
        }
        tell("status");
        if (desk.sequence !== before) tell("news");
    }
}

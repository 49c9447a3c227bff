//! A baseline of `orbitkv bench channel`: iceoryx2's request and response, 64 bytes there and back between two processes.
//!
//!     channel-iceoryx2 event|spin
//!
//! `event`: both sides block on iceoryx2's listeners. `spin`: both poll. Speaks by lines as `channel_loop.c` does.
//! A server that spins is stopped (SIGSTOP) while nothing is measured, but after the line "idle".

use core::time::Duration;
use iceoryx2::active_request::ActiveRequest;
use iceoryx2::prelude::*;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const MESSAGE_BYTES: usize = 64;
const END: u8 = 1;
const STEP_BITS: u32 = 8;
const STEPS: usize = 1 << STEP_BITS;
const CONNECT: Duration = Duration::from_secs(10);

type Message = [u8; MESSAGE_BYTES];
type Failure = Box<dyn std::error::Error>;

/// 256 steps in each power of two: 0.4 %.
struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    fn new() -> Self {
        Self { counts: vec![0; 64 * STEPS], total: 0 }
    }

    fn record(&mut self, nanos: u64) {
        let shift = if nanos < STEPS as u64 { 0 } else { 63 - STEP_BITS - nanos.leading_zeros() + 1 };
        self.counts[shift as usize * STEPS + (nanos >> shift) as usize] += 1;
        self.total += 1;
    }

    fn micros(&self, share: f64) -> f64 {
        let rank = (self.total as f64 * share) as u64;
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen > rank {
                return (((i % STEPS) as u64) << (i / STEPS)) as f64 / 1e3;
            }
        }
        0.0
    }
}

fn name(kind: &str, client: &str) -> Result<ServiceName, Failure> {
    Ok(format!("orbitkv/bench/{client}/{kind}").as_str().try_into()?)
}

fn answer(
    request: ActiveRequest<ipc::Service, Message, (), Message, ()>,
) -> Result<bool, Failure> {
    let mut message = *request.payload();
    message[0] = message[0].wrapping_add(1);
    request.loan_uninit()?.write_payload(message).send()?;
    Ok(message[1] == END)
}

fn serve(spins: bool, client: &str) -> Result<(), Failure> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let service =
        node.service_builder(&name("messages", client)?).request_response::<Message, Message>().open_or_create()?;
    let requested = node.service_builder(&name("requested", client)?).event().open_or_create()?;
    let answered = node.service_builder(&name("answered", client)?).event().open_or_create()?;
    let server = service.server_builder().create()?;
    let listener = requested.listener_builder().create()?;
    let notifier = answered.notifier_builder().create()?;
    println!("serving");
    loop {
        let mut over = false;
        if spins {
            if let Some(request) = server.receive()? {
                over = answer(request)?;
            } else {
                core::hint::spin_loop();
            }
        } else {
            listener.blocking_wait(|_| {})?;
            while let Some(request) = server.receive()? {
                over |= answer(request)?;
                notifier.notify()?;
            }
        }
        if over {
            return Ok(());
        }
    }
}

fn start_server(mode: &str, client: &str) -> Result<Child, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([mode, "serve", client]).stdin(Stdio::null()).stdout(Stdio::piped());
    // SAFETY: prctl is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
    let mut server = command.spawn()?;
    let mut line = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    if line.trim() != "serving" {
        return Err("its server did not start".into());
    }
    Ok(server)
}

fn send_signal(server: &Child, signal: i32) {
    // SAFETY: the child was not waited for, so the id is its own.
    unsafe {
        libc::kill(server.id() as i32, signal);
    }
}

fn run(mode: &str) -> Result<(), Failure> {
    let spins = mode == "spin";
    let own = std::process::id().to_string();
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let service =
        node.service_builder(&name("messages", &own)?).request_response::<Message, Message>().open_or_create()?;
    let requested = node.service_builder(&name("requested", &own)?).event().open_or_create()?;
    let answered = node.service_builder(&name("answered", &own)?).event().open_or_create()?;
    let client = service.client_builder().create()?;
    let listener = answered.listener_builder().create()?;
    let notifier = requested.notifier_builder().create()?;
    let mut server = start_server(mode, &own)?;

    let exchange = |message: Message| -> Result<Message, Failure> {
        let pending = client.loan_uninit()?.write_payload(message).send()?;
        if !spins {
            notifier.notify()?;
        }
        loop {
            if let Some(response) = pending.receive()? {
                return Ok(*response);
            }
            if spins {
                core::hint::spin_loop();
            } else {
                listener.blocking_wait(|_| {})?;
            }
        }
    };

    let begun = Instant::now();
    while service.dynamic_config().number_of_servers() == 0 && begun.elapsed() < CONNECT {
        std::thread::sleep(Duration::from_millis(1));
    }
    exchange([0; MESSAGE_BYTES])?;
    if spins {
        send_signal(&server, libc::SIGSTOP);
    }
    println!("ready {own} {}", server.id());
    std::io::stdout().flush()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if spins {
            send_signal(&server, libc::SIGCONT);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.len() != 2 {
            println!("idle");
            continue;
        }
        let pace = Duration::from_micros(words[0].parse()?);
        let length = Duration::from_secs_f64(words[1].parse()?);
        let mut found = Histogram::new();
        let start = Instant::now();
        let mut next = start;
        let mut message = [0; MESSAGE_BYTES];
        loop {
            if !pace.is_zero() {
                std::thread::sleep(next.saturating_duration_since(Instant::now()));
                next += pace;
            }
            let begun = Instant::now();
            message[0] = found.total as u8;
            let back = exchange(message)?;
            let ended = Instant::now();
            if back[0] != message[0].wrapping_add(1) {
                return Err("a wrong answer came".into());
            }
            found.record((ended - begun).as_nanos() as u64);
            next = next.max(ended);
            if ended - start >= length {
                break;
            }
        }
        if spins {
            send_signal(&server, libc::SIGSTOP);
        }
        println!(
            "{{\"operations\":{},\"p50_us\":{:.3},\"p99_us\":{:.3},\"p999_us\":{:.3}}}",
            found.total,
            found.micros(0.5),
            found.micros(0.99),
            found.micros(0.999)
        );
        std::io::stdout().flush()?;
    }
    send_signal(&server, libc::SIGCONT);
    let mut last = [0; MESSAGE_BYTES];
    last[1] = END;
    exchange(last)?;
    server.wait()?;
    Ok(())
}

fn main() {
    set_log_level(LogLevel::Error);
    let arguments: Vec<String> = std::env::args().collect();
    let ended = match arguments.iter().skip(1).map(String::as_str).collect::<Vec<_>>()[..] {
        [mode, "serve", client] => serve(mode == "spin", client),
        [mode] => run(mode),
        _ => Err("give event or spin".into()),
    };
    if let Err(e) = ended {
        eprintln!("channel-iceoryx2: {e}");
        std::process::exit(1);
    }
}

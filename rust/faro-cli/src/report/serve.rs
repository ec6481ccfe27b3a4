//! `faro view`: the page of `faro report` from this machine, made anew for each request.

use std::time::Duration;

use clap::Args;
use tiny_http::{Header, Method, Request, Response, Server};

use super::page;
use super::shown::ShownArgs;
use crate::failure::{Failure, Outcome};
use crate::signals;
use crate::term::Out;

/// How long it waits for a request before it looks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(200);
const HEADERS: [&str; 4] = [
    "Content-Type: text/html; charset=utf-8",
    "Cache-Control: no-store",
    "Referrer-Policy: no-referrer",
    "X-Content-Type-Options: nosniff",
];

/// Show outputs in a browser on this machine, as they are at each reload
#[derive(Args, Debug)]
#[command(after_long_help = "\
It prints an address that only this machine can open, with a part that cannot be guessed. The page is that of `faro \
report`; a reload reads the outputs again. Ctrl-C ends it.

Examples:
  faro view shuffle
  faro view shuffle/ --port 8080        # for an ssh tunnel: ssh -L 8080:127.0.0.1:8080 host")]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    shown: ShownArgs,

    /// The port; 0 lets the system choose a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
}

/// Runs the command.
pub(crate) fn run(args: &ViewArgs, out: &mut Out) -> Outcome {
    signals::install()?;
    // A wrong name is an error now, and not of the first request.
    args.shown.report()?;
    let server = Server::http(("127.0.0.1", args.port)).map_err(|error| refused(error.to_string()))?;
    let Some(address) = server.server_addr().to_ip() else {
        return Err(refused("no address".to_owned()));
    };
    let token = uuid::Uuid::new_v4().simple().to_string();
    let site = Site {
        path: format!("/{token}/"),
        hosts: [
            format!("127.0.0.1:{}", address.port()),
            format!("localhost:{}", address.port()),
        ],
    };
    out.line(&format!("http://{address}{}", site.path))?;
    out.finish()?;
    while !signals::interrupted() {
        let request = server
            .recv_timeout(PATIENCE)
            .map_err(|error| refused(error.to_string()))?;
        if let Some(request) = request {
            site.answer(request, args);
        }
    }
    Ok(())
}

fn refused(what: String) -> Failure {
    Failure::Environment {
        what: "a server on 127.0.0.1".to_owned(),
        source: std::io::Error::other(what),
    }
}

/// What is served, and to whom.
struct Site {
    path: String,
    /// What browsers name as the host. With another one, a page of somewhere else has led here.
    hosts: [String; 2],
}

impl Site {
    fn answer(&self, request: Request, args: &ViewArgs) {
        let (status, text) = if *request.method() != Method::Get {
            (405, "only GET".to_owned())
        } else if !self.is_meant(&request) || request.url() != self.path {
            (404, "nothing here".to_owned())
        } else {
            match args.shown.report().and_then(|report| page::html(&report)) {
                Ok(page) => (200, page),
                Err(failure) => (500, page::markup(&failure.to_string())),
            }
        };
        let mut response = Response::from_string(text).with_status_code(status);
        for header in HEADERS {
            if let Ok(header) = header.parse::<Header>() {
                response.add_header(header);
            }
        }
        // A browser that has gone away wants no answer.
        let _ = request.respond(response);
    }

    fn is_meant(&self, request: &Request) -> bool {
        let mut hosts = request.headers().iter().filter(|header| header.field.equiv("Host"));
        hosts
            .next()
            .is_some_and(|host| self.hosts.iter().any(|known| known == host.value.as_str()))
    }
}

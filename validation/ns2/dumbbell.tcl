# Two XCP flows over the bottleneck of a dumbbell, with ns-2 2.35: ns dumbbell.tcl [QUEUE [START [STOP]]]
#
# Data-centre times made ten times longer, as the code's control intervals have floors of milliseconds:
# 1 Gbps on all links, 1 ms each, so a base RTT of 6 ms; queues of QUEUE packets (200). The second flow
# begins after START seconds (1), and all ends after STOP (2). Packets are 1500 bytes on the wire.
#
# Prints a line for each 6 ms: the time in seconds, and the packets that each flow has had acknowledged so
# far; and for each half a second a line "port", the time, the bytes that the bottleneck has sent so far,
# and the integral over time of the packets that waited at it.

set queue [expr {$argc > 0 ? [lindex $argv 0] : 200}]
set start [expr {$argc > 1 ? [lindex $argv 1] : 1.0}]
set stop [expr {$argc > 2 ? [lindex $argv 2] : 2.0}]
set round 0.006

remove-all-packet-headers
add-packet-header Flags IP TCP XCP
Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001

set ns [new Simulator]

proc connect {from to} {
    global ns queue
    $ns duplex-link $from $to 1Gb 1ms XCP
    foreach {a b} [list $from $to $to $from] {
        $ns queue-limit $a $b $queue
        set link [$ns link $a $b]
        [$link queue] set-link-capacity [[$link set link_] set bandwidth_]
    }
}

set left [$ns node]
set right [$ns node]
connect $left $right
set port [$ns monitor-queue $left $right ""]
set waiting [new Integrator]
$port set-pkts-integrator $waiting

for {set i 0} {$i < 2} {incr i} {
    set source [$ns node]
    set destination [$ns node]
    connect $source $left
    connect $right $destination
    set flow($i) [$ns create-connection TCP/Reno/XCP $source TCPSink/XCPSink $destination $i]
    $ns at [expr {$i * $start}] "[$flow($i) attach-app FTP] start"
}

proc sample {} {
    global ns flow round
    puts "[$ns now] [$flow(0) set ack_] [$flow(1) set ack_]"
    $ns at [expr {[$ns now] + $round}] sample
}
proc sample_port {} {
    global ns port waiting
    set now [$ns now]
    $waiting newpoint $now [$waiting set lasty_]
    puts "port $now [$port set bdepartures_] [$waiting set sum_]"
    $ns at [expr {$now + 0.5}] sample_port
}
$ns at 0 sample
$ns at 0 sample_port
$ns at [expr {$stop + 1e-6}] "exit 0"
$ns run
